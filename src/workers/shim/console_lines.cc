#include "workers/shim/console_lines.h"

#include <algorithm>

namespace muster::workers {

void ConsoleLines::add(std::string_view bytes) {
    const std::size_t room = kPiece - prefix().size() - 1;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::size_t part =
            std::min(end == bytes.npos ? bytes.size() : end, room - unfinished_.size());
        unfinished_.append(bytes.substr(0, part));
        bytes.remove_prefix(part);
        const bool ends = !bytes.empty() && bytes.front() == '\n';
        if (ends) bytes.remove_prefix(1);
        if (!ends && unfinished_.size() < room) return;
        line(unfinished_);
        unfinished_.clear();
    }
}

void ConsoleLines::finish() {
    if (!unfinished_.empty()) line(unfinished_);
    unfinished_.clear();
    tell_left_out();
}

std::string_view ConsoleLines::next() const {
    const std::string_view rest = std::string_view(waiting_).substr(at_);
    const std::size_t end = rest.find('\n');
    return end == rest.npos ? rest : rest.substr(0, end + 1);
}

void ConsoleLines::line(std::string_view text) {
    if (at_ == waiting_.size()) {
        waiting_.clear();
        at_ = 0;
    }
    if (waiting_.size() - at_ > kMost) {
        ++left_out_;
        return;
    }
    if (at_ > kMost) {
        waiting_.erase(0, at_);
        at_ = 0;
    }
    tell_left_out();
    waiting_.append(prefix()).append(text).append("\n");
}

void ConsoleLines::tell_left_out() {
    if (left_out_ == 0) return;
    waiting_.append(prefix())
        .append("muster: ")
        .append(std::to_string(left_out_))
        .append(" lines are not shown here: the reader was too slow\n");
    left_out_ = 0;
}

}  // namespace muster::workers
