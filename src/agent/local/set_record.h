#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "master/world.h"

namespace muster::agent {

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

/// The set that runs, for the agent that comes after this one. In the job's directory from before
/// the first worker starts until the last has gone.
struct SetRecord {
    master::World world;
    std::vector<WorkerRecord> workers;

    friend bool operator==(const SetRecord&, const SetRecord&) = default;
};

inline constexpr std::string_view kSetRecordName = "set.json";

std::string write_set_record(const SetRecord& record);
/// kInvalid: these are not the bytes of one.
Result<SetRecord> parse_set_record(std::string_view text);

/// In one step: a reader sees it whole or not at all.
Result<void> save_set_record(const std::filesystem::path& directory, const SetRecord& record);
/// Nothing: there is none.
Result<std::optional<SetRecord>> load_set_record(const std::filesystem::path& directory);

}  // namespace muster::agent
