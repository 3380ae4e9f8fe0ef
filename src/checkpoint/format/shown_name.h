#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/visible_text.h"

namespace muster::checkpoint {

/// A name from a file, for a message: on one line, and not longer than a person reads.
inline std::string shown_name(std::string_view name) {
    constexpr std::size_t kMost = 200;
    return '"' + visible_line(name.substr(0, kMost)) + '"';
}

}  // namespace muster::checkpoint
