#pragma once

namespace muster {

/// Prints file, line and reason, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace muster

/// Aborts, in every build, on a state that must be impossible. Never used for input or the
/// environment: those lead to errors.
#define CHECK(condition, why)                                            \
    do {                                                                 \
        if (!(condition)) [[unlikely]]                                   \
            ::muster::check_failed(__FILE__, __LINE__, #condition, why); \
    } while (false)
