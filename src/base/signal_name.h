#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace muster {

/// "SIGKILL", "SIGSEGV"; "signal 42" for the unnamed.
inline std::string signal_name(int signal) {
    const char* const name = ::sigabbrev_np(signal);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace muster
