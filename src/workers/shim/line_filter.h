#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workers/shim/line_cutter.h"

namespace muster::workers {

/// Selects the lines of a worker's output that contain one of some texts, and puts a prefix before
/// each. A line longer than kLongest counts as several.
class LineFilter {
  public:
    static constexpr std::size_t kLongest = std::size_t{64} * 1024;

    LineFilter(std::string prefix, std::vector<std::string> texts)
        : prefix_(std::move(prefix)), texts_(std::move(texts)) {}

    /// The selected whole lines that these bytes complete; valid until the next call.
    std::string_view add(std::string_view bytes);
    /// No more input will come: ends an unfinished line.
    std::string_view finish();

  private:
    void line(std::string_view text);

    std::string prefix_;
    std::vector<std::string> texts_;
    LineCutter lines_{kLongest};
    std::string wanted_;
};

}  // namespace muster::workers
