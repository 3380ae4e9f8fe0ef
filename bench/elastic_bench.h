#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"

namespace muster::elastic {

/// Prints a figure as a line of JSON for elastic_cases.py, and hands it over at once.
void report(std::string_view what, double value);
[[noreturn]] void die(std::string_view what);
/// The value, or the end of the program.
template <class T>
T must(Result<T> result, std::string_view what) {
    if (!result) die(std::string(what) + ": " + result.error().message());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}
std::string must_read(const std::string& path);

/// Of a time on this machine's monotonic clock, which all processes share.
double seconds(Instant time);
double seconds(Duration time);

/// The job's name, of which agents and master make its token.
inline constexpr std::string_view kToken = "run bench";

/// What the caller of this program wants next.
class Commands {
  public:
    explicit Commands(const asio::any_io_executor& executor);
    ~Commands();

    /// The next letter; 0 at the end.
    Task<char> next();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// --- the modes of the program, each until its input ends

struct Files {
    std::string certificate = {};
    std::string key = {};
};
/// The master of a job of `agents`, whose record lies in `folder`; over TLS if there are `files`.
void serve_master(int agents, const std::string& folder, const Files& files);
/// So many agents without workers, each with a connection of its own; over TLS if there is a `ca`.
void run_agents(int count, int port, const std::string& ca);
/// One agent with two real workers, of which one is killed at each command.
void run_workers(int port, const std::string& folder);
/// Not part of the job: reports when a master of it answers, and each time that another one does.
void probe_master(int port, const std::string& token);

}  // namespace muster::elastic
