#include "cli/internal/pods/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::cli {

std::optional<kube::TerminalSize> terminal_size(int descriptor) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return std::nullopt;
    return kube::TerminalSize{.columns = size.ws_col, .rows = size.ws_row};
}

std::unique_ptr<RawTerminal> RawTerminal::enter(int descriptor) {
    termios before{};
    if (::tcgetattr(descriptor, &before) != 0) return nullptr;
    termios raw = before;
    ::cfmakeraw(&raw);
    if (::tcsetattr(descriptor, TCSADRAIN, &raw) != 0) return nullptr;
    return std::unique_ptr<RawTerminal>(new RawTerminal(descriptor, before));
}

RawTerminal::~RawTerminal() { ::tcsetattr(descriptor_, TCSADRAIN, &before_); }

}  // namespace muster::cli
