#include "cli/internal/run/log_bookmark.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "kube/values/time.h"

namespace muster::cli {

namespace {

std::int64_t second_of(WallTime time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::size_t stamp_end(std::string_view bytes) {
    const auto* const end =
        std::ranges::find_if(bytes, [](char c) { return c == ' ' || c == '\n'; });
    return static_cast<std::size_t>(end - bytes.begin());
}

}  // namespace

std::string LogBookmark::resume() {
    stamp_.clear();
    in_text_ = false;
    known_ = false;
    line_bytes_ = 0;
    hidden_ = 0;
    again_ = in_second_ + in_one_before_;
    since_ = WallTime::min();
    if (again_ == 0) return {};
    since_ = WallTime(std::chrono::seconds(second_ - 1));
    return kube::format_time(since_);
}

std::string LogBookmark::add(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        if (!in_text_) {
            const std::size_t end = stamp_end(bytes);
            stamp_ += bytes.substr(0, end);
            bytes.remove_prefix(end);
            if (bytes.empty() && stamp_.size() < kLongestStamp) break;
            const bool blank = bytes.starts_with(' ');
            if (blank) bytes.remove_prefix(1);
            begin_line(text, blank);
            continue;
        }
        const std::size_t newline = bytes.find('\n');
        const std::string_view part =
            bytes.substr(0, newline == bytes.npos ? bytes.size() : newline + 1);
        bytes.remove_prefix(part.size());
        text += unread(part);
        if (newline != bytes.npos) end_line();
    }
    return text;
}

/// A line without a stamp is what a server says in the middle of a log, and belongs to what was before.
void LogBookmark::begin_line(std::string& text, bool blank) {
    in_text_ = true;
    line_bytes_ = 0;
    hidden_ = 0;
    const std::optional<WallTime> at = kube::parse_time(stamp_);
    stamped_ = at.has_value();
    if (!at) {
        if (!known_) text += stamp_ + (blank ? " " : "");
        stamp_.clear();
        return;
    }
    stamp_.clear();
    line_at_ = *at;
    known_ = *at < since_;
    if (known_) return;
    if (again_ > 0 && *at <= newest_) {
        --again_;
        known_ = true;
        return;
    }
    again_ = 0;
    if (!open_) return;
    if (*at == open_at_) {
        hidden_ = open_bytes_;
        return;
    }
    // The rest of the line was in a file that is gone.
    text += '\n';
    open_ = false;
    open_bytes_ = 0;
}

std::string_view LogBookmark::unread(std::string_view part) {
    if (known_) return {};
    line_bytes_ += part.size();
    if (stamped_) {
        open_ = true;
        open_at_ = line_at_;
        open_bytes_ = std::max(open_bytes_, line_bytes_);
    }
    const std::size_t drop = std::min<std::uint64_t>(hidden_, part.size());
    hidden_ -= drop;
    return part.substr(drop);
}

void LogBookmark::end_line() {
    in_text_ = false;
    if (known_ || !stamped_) return;
    open_ = false;
    open_bytes_ = 0;
    newest_ = std::max(newest_, line_at_);
    const std::int64_t second = second_of(line_at_);
    if (in_second_ == 0 || second > second_) {
        in_one_before_ = second == second_ + 1 ? in_second_ : 0;
        second_ = second;
        in_second_ = 1;
    } else if (second == second_) {
        ++in_second_;
    } else if (second == second_ - 1) {
        ++in_one_before_;
    }
}

}  // namespace muster::cli
