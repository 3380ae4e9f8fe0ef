#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workers/shim/order.h"

// The agent's side of shims; system calls. Nothing here blocks.

namespace muster::workers {

/// The shim program, to execute by descriptor; opened once for all shims of an agent.
Result<UniqueFd> open_shim_program();

struct StartedShim {
    pid_t pid = 0;  ///< a child of ours
    UniqueFd control;
};

/// The caller's own descriptors, from which a shim gets what it needs.
struct ShimDescriptors {
    int program = -1;    ///< as open_shim_program() returned it
    int directory = -1;  ///< the job's
    int input = -1;      ///< the worker's standard input; -1: /dev/null
    int spare = -1;      ///< the socket over which a spare gets its messages; -1 for a worker
};

/// Starts a shim; its first report says whether the worker started.
Result<StartedShim> start_shim(const ShimDescriptors& given, const ShimOrder& order);

/// Connects to a shim that an earlier agent started. kUnavailable: it is gone.
Result<UniqueFd> find_shim(int directory, const std::string& socket);

struct ReceivedReport {
    ShimReport report;
    std::vector<UniqueFd> fds;
};
/// nullopt if there is none yet. kUnavailable: the shim is gone, or has another version.
Result<std::optional<ReceivedReport>> receive_report(int control);

/// `signal`: sent to the worker if there is a grace.
Result<void> request_end(int control, std::int64_t grace_ns, int signal);
/// Tells a shim what its spare has become. It answers with kBecame.
Result<void> request_become(int control, const ShimOrder& order);

}  // namespace muster::workers
