#pragma once

namespace muster {

/// Prints file, line and reason, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace muster

/// Aborts on a state that can't be, in every build. Never for input or for the environment: those
/// are errors.
#define CHECK(condition, why)                                            \
    do {                                                                 \
        if (!(condition)) [[unlikely]]                                   \
            ::muster::check_failed(__FILE__, __LINE__, #condition, why); \
    } while (false)
