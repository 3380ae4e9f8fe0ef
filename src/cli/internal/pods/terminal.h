#pragma once

#include <termios.h>

#include <memory>
#include <optional>

#include "kube/objects/command_session.h"

namespace muster::cli {

/// nullopt if the descriptor is no terminal, or one without a size.
std::optional<kube::TerminalSize> terminal_size(int descriptor);

/// A terminal that passes on every key as it is, also Ctrl-C, and shows nothing by itself, for as
/// long as this exists.
class RawTerminal {
  public:
    /// Null if the descriptor is no terminal. It must stay open.
    static std::unique_ptr<RawTerminal> enter(int descriptor);
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

  private:
    RawTerminal(int descriptor, const termios& before) : descriptor_(descriptor), before_(before) {}

    const int descriptor_;
    const termios before_;
};

}  // namespace muster::cli
