#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "net/tls/shared_key_tls.h"

namespace muster::rsh {

/// What a name means now; kUnavailable when it means nothing yet. May block.
using Resolve = std::function<Result<std::vector<std::string>>(const std::string& host)>;
/// By the system's resolver, which a static program does not have (net/name_files.h).
Result<std::vector<std::string>> resolve_by_system(const std::string& host);

struct ClientOptions {
    std::string host;
    std::uint16_t port = 0;
    std::string command;
    /// A worker that is not there yet is tried for so long.
    Duration patience = std::chrono::minutes(1);
    int input = 0;  ///< descriptors; -1: nothing is read
    int output = 1;
    int errors = 2;
    Resolve resolve = {};
};

/// Runs a command at a host and returns its exit status: 128 + the signal that ended it, 126 when
/// it was not started, which is written to `errors`. Its input, output and errors are this side's.
///
/// kTimeout when the host was not reached in time, kUnauthorized when it has another token,
/// kUnavailable when the connection broke: then the command was ended there. Thread: one loop.
/// SIGPIPE must be ignored.
Task<Result<int>> run_at_host(Clock& clock, net::SharedKeyTls& keys, ClientOptions options);

}  // namespace muster::rsh
