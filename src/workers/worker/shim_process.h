#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workers/shim/order.h"

// The agent's side of shims, in system calls. Nothing here waits for one.

namespace muster::workers {

/// The program, to execute by descriptor; once for all shims of an agent.
Result<UniqueFd> open_shim_program();

struct StartedShim {
    pid_t pid = 0;  ///< a child of ours
    UniqueFd control;
};

/// Starts one; its first report says what became of the worker. `directory` is the job's, open.
/// `spare`: what a spare is told comes by this; -1 for a worker.
Result<StartedShim> start_shim(int program, int directory, const ShimOrder& order,
                               const std::string& name, int spare = -1);

/// Connects to one that an earlier agent started. kUnavailable: it is gone.
Result<UniqueFd> find_shim(int directory, const std::string& socket);

struct ReceivedReport {
    ShimReport report;
    std::vector<UniqueFd> fds;
};
/// Nothing: none is there yet. kUnavailable: the shim has gone, or is of another version.
Result<std::optional<ReceivedReport>> receive_report(int control);

Result<void> request_end(int control, std::int64_t grace_ns);
/// What a shim's spare has become. It answers with kBecame.
Result<void> request_become(int control, const ShimOrder& order);

}  // namespace muster::workers
