#include "workers/shim/line_filter.h"

#include <algorithm>

namespace muster::workers {

std::string_view LineFilter::add(std::string_view bytes) {
    wanted_.clear();
    lines_.add(bytes, [this](std::string_view text) { line(text); });
    return wanted_;
}

std::string_view LineFilter::finish() {
    wanted_.clear();
    lines_.finish([this](std::string_view text) { line(text); });
    return wanted_;
}

void LineFilter::line(std::string_view text) {
    const auto is_in = [text](const std::string& one) { return text.find(one) != text.npos; };
    if (std::ranges::any_of(texts_, is_in)) wanted_.append(prefix_).append(text).append("\n");
}

}  // namespace muster::workers
