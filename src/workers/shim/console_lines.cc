#include "workers/shim/console_lines.h"

namespace muster::workers {

namespace {

constexpr std::string_view kEnds = "\r\n";

bool is_end(char letter) { return kEnds.find(letter) != kEnds.npos; }

}  // namespace

void ConsoleLines::add(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find_first_of(kEnds);
        unfinished_.append(bytes.substr(0, end));
        if (end == bytes.npos) break;
        end_line(bytes[end]);
        bytes.remove_prefix(end + 1);
    }
    if (unfinished_.size() > kLongest) {
        if (!begun_) append(prefix_);
        append(unfinished_);
        begun_ = true;
        unfinished_.clear();
        shown_ = 0;
    }
    show_progress();
}

void ConsoleLines::finish() {
    if (!unfinished_.empty() || begun_) end_line('\n');
}

void ConsoleLines::end_line(char end) {
    const bool is_shown = !begun_ && progress_ && shown_ == unfinished_.size();
    // After "\r" a "\n" ends the line that is there. A "\r" at the start of a line changes nothing.
    const bool is_empty = !begun_ && unfinished_.empty();
    if (end == '\n' && is_empty && progress_) {
        append("\n");
    } else if (end == '\n' || !(is_shown || is_empty)) {
        if (!begun_) append(prefix_);
        append(unfinished_);
        append({&end, 1});
    }
    progress_ = end == '\r';
    begun_ = false;
    shown_ = 0;
    unfinished_.clear();
}

/// The same text comes again once its line is finished, in the same place.
void ConsoleLines::show_progress() {
    if (!progress_ || begun_ || unfinished_.size() <= shown_) return;
    append(prefix_);
    append(unfinished_);
    append("\r");
    shown_ = unfinished_.size();
}

void ConsoleLines::append(std::string_view text) {
    if (at_ == waiting_.size() || at_ > kMost) {
        waiting_.erase(0, at_);
        at_ = 0;
    }
    waiting_.append(text);
}

std::string_view ConsoleLines::next() const {
    const std::string_view rest = std::string_view(waiting_).substr(at_);
    if (rest.size() <= kPiece) return rest;
    std::size_t end = rest.find_last_of(kEnds, kPiece - 1);
    if (end == rest.npos) end = rest.find_first_of(kEnds, kPiece);
    return end == rest.npos ? rest : rest.substr(0, end + 1);
}

void ConsoleLines::written(std::size_t bytes) {
    if (bytes == 0) return;
    at_ += bytes;
    mid_line_ = !is_end(waiting_[at_ - 1]);
}

void ConsoleLines::give_up() {
    waiting_.clear();
    unfinished_.clear();
    at_ = 0;
    shown_ = 0;
    mid_line_ = begun_ = false;
}

}  // namespace muster::workers
