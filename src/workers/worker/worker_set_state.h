#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job_protocol/world.h"

namespace muster::workers {

/// What a new agent must know of one worker to take it over.
struct WorkerRecord {
    int local_rank = 0;
    int rank = 0;
    std::string socket = {};      ///< its shim's name in the job's directory
    std::string progress = {};    ///< absolute
    std::string error_file = {};  ///< absolute; empty: none
    std::string group = {};       ///< its cgroup; empty: none

    friend bool operator==(const WorkerRecord&, const WorkerRecord&) = default;
};

/// The set that runs, for the next agent. Kept in the job's directory from before the first worker
/// starts until the last one is gone.
struct WorkerSetState {
    job_protocol::World world;
    std::vector<WorkerRecord> workers;

    friend bool operator==(const WorkerSetState&, const WorkerSetState&) = default;
};

inline constexpr std::string_view kWorkerSetStateName = "set.json";

std::string write_worker_set_state(const WorkerSetState& record);
/// kInvalid: it is not such a record.
Result<WorkerSetState> parse_worker_set_state(std::string_view text);

/// Atomic: a reader sees all of it or nothing.
Result<void> save_worker_set_state(const std::filesystem::path& directory,
                                   const WorkerSetState& record);
/// nullopt if there is none.
Result<std::optional<WorkerSetState>> load_worker_set_state(const std::filesystem::path& directory);

}  // namespace muster::workers
