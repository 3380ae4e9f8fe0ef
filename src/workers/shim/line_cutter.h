#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace muster::workers {

/// Cuts bytes that come in pieces into lines, without their ends. A line that is longer than
/// `longest` comes as several.
class LineCutter {
  public:
    explicit LineCutter(std::size_t longest) : longest_(longest) {}

    /// Calls `line` for each that ends with these bytes.
    template <class Line>
    void add(std::string_view bytes, Line line) {
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            const std::size_t part =
                std::min(end == bytes.npos ? bytes.size() : end, longest_ - unfinished_.size());
            unfinished_.append(bytes.substr(0, part));
            bytes.remove_prefix(part);
            const bool ends = !bytes.empty() && bytes.front() == '\n';
            if (ends) bytes.remove_prefix(1);
            if (!ends && unfinished_.size() < longest_) return;
            line(std::string_view(unfinished_));
            unfinished_.clear();
        }
    }
    /// No more will come: an unfinished line is finished.
    template <class Line>
    void finish(Line line) {
        if (!unfinished_.empty()) line(std::string_view(unfinished_));
        unfinished_.clear();
    }

  private:
    std::size_t longest_;
    std::string unfinished_;
};

}  // namespace muster::workers
