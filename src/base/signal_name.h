#pragma once

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/parse_number.h"

namespace muster {

/// "SIGKILL", "SIGSEGV"; "signal 42" for the unnamed.
inline std::string signal_name(int signal) {
    const char* const name = ::sigabbrev_np(signal);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

/// The signal of "SIGUSR1", "SIGRTMIN", "SIGRTMIN+3" or "SIGRTMAX-3", as Kubernetes writes them.
inline std::optional<int> signal_by_name(std::string_view name) {
    if (!name.starts_with("SIG")) return std::nullopt;
    name.remove_prefix(3);
    for (int signal = 1; signal < SIGRTMIN; ++signal)
        if (const char* const known = ::sigabbrev_np(signal); known != nullptr && name == known)
            return signal;
    const bool up = name.starts_with("RTMIN");
    if (!up && !name.starts_with("RTMAX")) return std::nullopt;
    name.remove_prefix(5);
    if (name.empty()) return up ? SIGRTMIN : SIGRTMAX;
    if (name.front() != (up ? '+' : '-')) return std::nullopt;
    const std::optional<int> steps = parse_number<int>(name.substr(1));
    if (!steps || *steps < 1 || *steps > SIGRTMAX - SIGRTMIN) return std::nullopt;
    return up ? SIGRTMIN + *steps : SIGRTMAX - *steps;
}

/// Whether a process that this signal ended was ended by another one, as a person, a supervisor or the
/// loss of its machine does: that says nothing about its own program. SIGKILL counts, though a kernel
/// without memory sends it, too: who knows of that asks first.
inline bool comes_from_outside(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

}  // namespace muster
