#pragma once

#include <cstddef>

namespace muster::cel {

/// What costs are counted by of a format: how long its pattern is taken to be.
class NamedFormat {
  public:
    virtual ~NamedFormat() = default;
    virtual std::size_t longest_pattern() const = 0;
};

}  // namespace muster::cel
