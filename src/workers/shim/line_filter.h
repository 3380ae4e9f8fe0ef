#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::workers {

/// Of what a worker writes, the lines that have one of some texts in them, each with a prefix
/// before it. A line that is longer than kLongest counts as several.
class LineFilter {
  public:
    static constexpr std::size_t kLongest = std::size_t{64} * 1024;

    LineFilter(std::string prefix, std::vector<std::string> texts)
        : prefix_(std::move(prefix)), texts_(std::move(texts)) {}

    /// Whole lines that have ended with these bytes and are wanted; until the next call.
    std::string_view add(std::string_view bytes);
    /// No more will come: an unfinished line is finished.
    std::string_view finish();

  private:
    void line(std::string_view text);

    std::string prefix_;
    std::vector<std::string> texts_;
    std::string unfinished_;
    std::string wanted_;
};

}  // namespace muster::workers
