#include "cli/internal/logs/log_merge.h"

#include <algorithm>

#include "kube/values/time.h"

namespace muster::cli {

std::size_t LogMerge::open() {
    sources_.emplace_back();
    return sources_.size() - 1;
}

void LogMerge::add(std::size_t source, std::string_view stamped, Instant now) {
    Source& from = sources_[source];
    const std::size_t blank = stamped.find(' ');
    const std::string_view stamp = stamped.substr(0, blank);
    Held held{.at = from.last, .arrived = now, .stamp = {}, .text = std::string(stamped)};
    if (const std::optional<WallTime> at = kube::parse_time(stamp)) {
        // If a clock was set back, a line must not overtake the one before it.
        held.at = std::max(from.last, *at);
        held.stamp = stamp;
        held.text = blank == stamped.npos ? "" : std::string(stamped.substr(blank + 1));
    }
    from.last = held.at;
    from.lines.push_back(std::move(held));
}

void LogMerge::end(std::size_t source) { sources_[source].ended = true; }

std::optional<std::size_t> LogMerge::first() const {
    std::optional<std::size_t> earliest;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i].lines.empty()) continue;
        if (!earliest || sources_[i].lines.front().at < sources_[*earliest].lines.front().at)
            earliest = i;
    }
    return earliest;
}

bool LogMerge::all_have_spoken() const {
    return std::ranges::none_of(
        sources_, [](const Source& source) { return !source.ended && source.lines.empty(); });
}

std::vector<LogMerge::Line> LogMerge::take(Instant now) {
    std::vector<Line> due;
    for (;;) {
        const std::optional<std::size_t> earliest = first();
        if (!earliest) return due;
        Source& source = sources_[*earliest];
        const bool waited = patience_ && source.lines.front().arrived + *patience_ <= now;
        if (!waited && !all_have_spoken()) return due;
        due.push_back({*earliest, std::move(source.lines.front().stamp),
                       std::move(source.lines.front().text)});
        source.lines.pop_front();
    }
}

std::optional<Instant> LogMerge::wake_at() const {
    const std::optional<std::size_t> earliest = first();
    if (!earliest || !patience_) return std::nullopt;
    return sources_[*earliest].lines.front().arrived + *patience_;
}

bool LogMerge::finished() const {
    return std::ranges::all_of(
        sources_, [](const Source& source) { return source.ended && source.lines.empty(); });
}

}  // namespace muster::cli
