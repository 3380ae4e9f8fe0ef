#include "cli/internal/run/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fields.h"
#include "base/visible_text.h"

namespace muster::cli {

namespace {

constexpr std::array<int, 10> kPodColors = {36, 33, 35, 34, 32, 96, 93, 95, 94, 92};
/// A pipe takes this much at once.
constexpr std::size_t kGathered = std::size_t{64} * 1024;
constexpr std::string_view kEraseLine = "\r\x1b[K";

/// So that no line but the first can be taken for one of ours.
std::string indented(std::string_view text) {
    std::string made;
    for (const char c : text) {
        made += c;
        if (c == '\n') made += "  ";
    }
    return made;
}

}  // namespace

Console::~Console() {
    flush();
    clear_progress();
}

void Console::tell(const Told& told) {
    const bool shown = !options_.quiet || told.tone == Tone::kBad;
    if (!shown && !options_.copy) return;
    std::string line = "muster: " + indented(visible_text(without_styles(told.text)));
    if (options_.copy) options_.copy(line + "\n");
    if (!shown) return;
    if (options_.color) {
        int color = told.tone == Tone::kGood ? 32 : told.tone == Tone::kBad ? 31 : 2;
        line = fmt::format("\x1b[{}m{}\x1b[0m", color, line);
    }
    write_lines(line + "\n");
}

void Console::tell(const std::vector<Told>& all) {
    for (const Told& told : all) tell(told);
}

void Console::flush() {
    if (gathered_.empty()) return;
    write_through(gathered_);
    gathered_.clear();
}

/// The prefixes have colours, and what a program wrote may have more.
void Console::copy_block(std::string_view lines) {
    if (!options_.color) return options_.copy(lines);
    std::string plain;
    plain.reserve(lines.size());
    while (!lines.empty()) plain += without_styles(take_field(lines, '\n')) + "\n";
    options_.copy(plain);
}

void Console::write_block(std::string_view lines) {
    if (options_.copy) copy_block(lines);
    if (gathers()) {
        gathered_ += lines;
        if (gathered_.size() >= kGathered) flush();
        return;
    }
    if (!options_.live || options_.raw) return write_lines(lines);
    std::string shown;
    shown.reserve(lines.size());
    while (!lines.empty())
        shown += log_line_for_terminal(take_field(lines, '\n'), options_.color) + "\n";
    write_lines(shown);
}

void Console::write_lines(std::string_view lines) {
    flush();
    if (!options_.live || progress_.empty()) return write_through(lines);
    std::string block;
    block.reserve(lines.size() + progress_.size() + 16);
    block += kEraseLine;
    block += lines;
    block += progress_;
    write_through(block);
}

std::string Console::log_prefix(const std::string& pod) {
    const std::string name = visible_line(pod);
    const std::string mark = options_.brackets ? fmt::format("[{}]", name) : name + " |";
    if (!options_.color) return mark + " ";
    auto it = std::ranges::find(names_, name);
    auto index = static_cast<std::size_t>(it - names_.begin());
    if (it == names_.end()) names_.push_back(name);
    return fmt::format("\x1b[{}m{}\x1b[0m ", kPodColors[index % kPodColors.size()], mark);
}

void Console::progress(const std::string& told) {
    const std::string text = visible_line(told);
    if (options_.quiet || text == progress_) return;
    if (!options_.live) {
        progress_ = text;
        return tell({Tone::kPlain, text});
    }
    write_through(fmt::format("{}{}", kEraseLine, text));
    progress_ = text;
}

void Console::clear_progress() {
    if (options_.live && !progress_.empty()) write_through(kEraseLine);
    progress_.clear();
}

void Console::write_through(std::string_view bytes) {
    while (!bytes.empty() && !broken_ && !options_.hidden) {
        ssize_t written = ::write(options_.descriptor, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd wait{.fd = options_.descriptor, .events = POLLOUT, .revents = 0};
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            broken_ = true;
        }
    }
}

ConsoleOptions console_for(bool to_stderr, bool quiet, bool no_color) {
    int descriptor = to_stderr ? STDERR_FILENO : STDOUT_FILENO;
    bool terminal = ::isatty(descriptor) == 1;
    return {
        .descriptor = descriptor, .color = terminal && !no_color, .live = terminal, .quiet = quiet};
}

}  // namespace muster::cli
