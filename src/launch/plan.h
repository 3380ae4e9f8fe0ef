#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"
#include "launch/flag_values.h"
#include "launch/flags.h"
#include "launch/placement.h"
#include "launch/rendezvous.h"
#include "launch/worker_command.h"

namespace muster::launch {

/// What a plan depends on of this machine.
struct LaunchMachine {
    Devices devices = {};
    std::string python = {};    ///< found by kPythonNames; PYTHON_EXEC overrides it
    std::string fresh_id = {};  ///< a name for a job that has none and needs none
};

struct LaunchTimes {
    /// How long to wait for a world before the job fails with a list of missing nodes. nullopt: no
    /// limit.
    std::optional<Duration> join = std::chrono::seconds(600);
    Duration last_call = std::chrono::seconds(30);  ///< master::MembershipLimits
    std::optional<Duration> pend = {};  ///< how long a standby node waits; nullopt: no limit
    Duration silence = std::chrono::seconds(5);  ///< after which a node counts as lost
    /// From SIGTERM to SIGKILL: for a healthy group, and for one with a dead worker, which the
    /// others only wait for.
    Duration stop_grace = std::chrono::seconds(30);
    Duration broken_grace = std::chrono::seconds(5);
    Duration adopt_grace = std::chrono::seconds(1);
};

/// Texts as written, except what is checked here; they are parsed by the supervisor.
struct LaunchLogs {
    std::string dir = {};         ///< empty: a new directory
    std::string redirects = "0";  ///< torch's Std.from_str()
    std::string tee = "0";
    std::string out_filters = {};  ///< "loss,epoch"; of what is teed
    std::string error_filters = {};
    std::set<int> shown_ranks = {};  ///< local ranks; empty: all
    std::string prefix = {};         ///< ${role_name}, ${local_rank}, ${rank}; empty: the default
    std::optional<std::uint64_t> rotate_bytes = {};  ///< nullopt: no rotation
    int rotated_files = 5;
};

/// Files for TLS between agents and masters; all or none.
struct LaunchTls {
    std::string cert = {};
    std::string key = {};
    std::string ca = {};
};

enum class NodeCheckMode : std::uint8_t { kNone, kNodes, kLinks };

/// All settings of muster-run in one value.
struct LaunchPlan {
    LaunchCommand called = LaunchCommand::kMusterRun;
    Rendezvous rendezvous = {};
    NodeRange nodes = {};
    int node_unit = 1;
    bool grow_at_failure = false;
    int local_size = 1;
    int max_restarts = 0;  ///< as reported to the workers
    std::array<job_protocol::Budget, job_protocol::kCharges> budgets =
        {};  ///< indexed by job_protocol::Charge
    job_protocol::PolicyOptions policy = {};
    LaunchTimes times = {};
    WorkerCommand command = {};
    LaunchLogs logs = {};
    LaunchTls tls = {};
    std::string token_file = {};  ///< empty: not given
    std::string run_id = {};
    std::string role = {};
    std::string job_dir = {};     ///< empty: a directory of its own
    std::string rack = {};        ///< of this node; empty: unknown
    std::string local_addr = {};  ///< empty: address_for_others() picks one
    std::vector<int> signals = {};
    bool virtual_local_rank = false;
    PlacementWish placement = {};  ///< of workers on CPUs and memory
    bool hook = true;
    /// nullopt: no warm spares. Empty: warm spares with the modules that the last run imported.
    std::optional<std::vector<std::string>> warm = {};
    NodeCheckMode node_check = NodeCheckMode::kNone;
    bool exclude_straggler = false;
    std::vector<LaunchNotice> notices = {};  ///< to show at start
};

/// Combines all flags and variables. Pure. Errors are kInvalid (kNotFound: no Python) and name the
/// flag or variable, its value, and what it accepts.
Result<LaunchPlan> make_launch_plan(const LaunchFlags& flags, const Variables& variables,
                                    const LaunchMachine& machine);

/// For people and tests: `muster-run --print-plan`. Bytes that are not UTF-8 become '?'.
std::string to_json(const LaunchPlan& plan);

}  // namespace muster::launch
