#include "workers/shim/line_filter.h"

#include <algorithm>

namespace muster::workers {

std::string_view LineFilter::add(std::string_view bytes) {
    wanted_.clear();
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::size_t part =
            std::min(end == bytes.npos ? bytes.size() : end, kLongest - unfinished_.size());
        unfinished_.append(bytes.substr(0, part));
        bytes.remove_prefix(part);
        const bool ends = !bytes.empty() && bytes.front() == '\n';
        if (ends) bytes.remove_prefix(1);
        if (!ends && unfinished_.size() < kLongest) break;
        line(unfinished_);
        unfinished_.clear();
    }
    return wanted_;
}

std::string_view LineFilter::finish() {
    wanted_.clear();
    if (!unfinished_.empty()) line(unfinished_);
    unfinished_.clear();
    return wanted_;
}

void LineFilter::line(std::string_view text) {
    const auto is_in = [text](const std::string& one) { return text.find(one) != text.npos; };
    if (std::ranges::any_of(texts_, is_in)) wanted_.append(prefix_).append(text).append("\n");
}

}  // namespace muster::workers
