#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

// An unexpected exception is an internal fault. It ends the task, request or callback in which it
// happened, and whatever waits for that is told. The process ends only if it can't work without it.
// Thread: any.

/// Logs the exception, with an id by which the line can be found. Returns a message that may be
/// shown to clients: "an internal error; the log has it under the id 1c9e0342".
std::string report_unexpected(std::string_view where, const std::exception_ptr& thrown);

/// Aborts with the exception's text: for work without which the process is useless.
[[noreturn]] void end_process_for(std::string_view where, const std::exception_ptr& thrown);

/// Runs a callback that belongs to other code. If it throws, reports the exception and returns the
/// message of report_unexpected().
template <std::invocable Callback>
std::optional<std::string> contained(std::string_view where, Callback&& callback) {
    try {
        std::forward<Callback>(callback)();
        return std::nullopt;
    } catch (...) {
        return report_unexpected(where, std::current_exception());
    }
}

/// While an object of this class exists, every unexpected exception ends the process: for
/// simulations and fuzzers, which look for them. One thread at a time.
class UnexpectedEndsProcess {
  public:
    UnexpectedEndsProcess();
    ~UnexpectedEndsProcess();
    UnexpectedEndsProcess(const UnexpectedEndsProcess&) = delete;
    UnexpectedEndsProcess& operator=(const UnexpectedEndsProcess&) = delete;

  private:
    bool before_;
};

}  // namespace muster
