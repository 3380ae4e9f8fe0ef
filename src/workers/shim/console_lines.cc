#include "workers/shim/console_lines.h"

namespace muster::workers {

void ConsoleLines::add(std::string_view bytes) {
    lines_.add(bytes, [this](std::string_view text) { line(text); });
}

void ConsoleLines::finish() {
    lines_.finish([this](std::string_view text) { line(text); });
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
