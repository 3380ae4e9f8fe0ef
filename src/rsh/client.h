#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "net/tls/shared_key_tls.h"

namespace muster::rsh {

/// The current addresses of a name; kUnavailable if it has none yet. May block.
using Resolve = std::function<Result<std::vector<std::string>>(const std::string& host)>;
/// Uses the system's resolver, which a static program does not have (net/name_files.h).
Result<std::vector<std::string>> resolve_by_system(const std::string& host);

struct ClientOptions {
    std::string host;
    std::uint16_t port = 0;
    std::string command;
    /// How long to retry while the worker can't be reached.
    Duration patience = std::chrono::minutes(1);
    int input = 0;  ///< descriptors; -1: no input is read
    int output = 1;
    int errors = 2;
    Resolve resolve = {};
};

/// Runs a command on a host and returns its exit status: 128 + the signal that killed it, or 126 if
/// it was not started; the reason is then written to `errors`. Input, output and errors are
/// connected to the given descriptors.
///
/// kTimeout: the host was not reached in time. kUnauthorized: it has another token. kUnavailable:
/// the connection broke; the command was ended there. Thread: one loop. SIGPIPE must be ignored.
Task<Result<int>> run_at_host(Clock& clock, net::SharedKeyTls& keys, ClientOptions options);

}  // namespace muster::rsh
