#include "workloads/internal/jobs/index_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/parse_number.h"

namespace muster::workloads {

IndexIntervals IndexIntervals::parse(std::string_view text, std::int64_t limit) {
    IndexIntervals read;
    std::int64_t next = 0;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t dash = item.find('-');
        const auto first = parse_number<std::int64_t>(item.substr(0, dash));
        const auto last =
            dash == item.npos ? first : parse_number<std::int64_t>(item.substr(dash + 1));
        if (!first || !last || *first < next || *last < *first) continue;
        if (*first >= limit) break;
        read.add_interval(*first, std::min(*last, limit - 1));
        next = *last + 1;
    }
    return read;
}

bool IndexIntervals::contains(std::int64_t index) const {
    const auto after = intervals_.upper_bound(index);
    return after != intervals_.begin() && std::prev(after)->second >= index;
}

std::int64_t IndexIntervals::count_in(const IndexIntervals& other) const {
    std::int64_t common = 0;
    auto b = other.intervals_.begin();
    for (auto a = intervals_.begin(); a != intervals_.end() && b != other.intervals_.end();) {
        const std::int64_t first = std::max(a->first, b->first);
        const std::int64_t last = std::min(a->second, b->second);
        common += std::max<std::int64_t>(last - first + 1, 0);
        a->second < b->second ? static_cast<void>(++a) : static_cast<void>(++b);
    }
    return common;
}

void IndexIntervals::add(std::int64_t index) {
    if (!contains(index)) add_interval(index, index);
}

void IndexIntervals::add_all(const IndexIntervals& other) {
    for (const auto& [first, last] : other.intervals_)
        for (std::int64_t index = first; index <= last; ++index) add(index);
}

/// Of indexes that are not in the set.
void IndexIntervals::add_interval(std::int64_t first, std::int64_t last) {
    count_ += last - first + 1;
    auto after = intervals_.upper_bound(first);
    if (after != intervals_.begin()) {
        const auto before = std::prev(after);
        if (before->second + 1 == first) {
            first = before->first;
            intervals_.erase(before);
        }
    }
    if (after != intervals_.end() && after->first == last + 1) {
        last = after->second;
        intervals_.erase(after);
    }
    intervals_.emplace(first, last);
}

std::string IndexIntervals::text() const {
    std::string text;
    for (const auto& [first, last] : intervals_) {
        if (!text.empty()) text += ',';
        text += fmt::format("{}", first);
        if (last > first) text += fmt::format("{}{}", last == first + 1 ? ',' : '-', last);
    }
    return text;
}

std::vector<std::int64_t> IndexIntervals::missing(std::int64_t most, std::int64_t limit) const {
    std::vector<std::int64_t> found;
    std::int64_t next = 0;
    const auto fill = [&](std::int64_t end) {
        while (next < end && static_cast<std::int64_t>(found.size()) < most)
            found.push_back(next++);
    };
    for (const auto& [first, last] : intervals_) {
        fill(std::min(first, limit));
        next = last + 1;
    }
    fill(limit);
    return found;
}

}  // namespace muster::workloads
