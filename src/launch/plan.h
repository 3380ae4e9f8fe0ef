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

/// What of this machine a plan depends on.
struct LaunchMachine {
    Devices devices = {};
    std::string python = {};    ///< by kPythonNames; PYTHON_EXEC goes before it
    std::string fresh_id = {};  ///< a name for a job that has none and needs none
};

struct LaunchTimes {
    /// For a world, before the job is given up with who is missing. Nothing: for ever.
    std::optional<Duration> join = std::chrono::seconds(600);
    Duration last_call = std::chrono::seconds(30);  ///< master::MembershipLimits
    std::optional<Duration> pend = {};              ///< as a spare; nothing: for ever
    Duration silence = std::chrono::seconds(5);     ///< then a node is lost
    /// From SIGTERM to SIGKILL: of a group that is whole, and of one that is broken already, whose
    /// workers only wait for one that is dead.
    Duration stop_grace = std::chrono::seconds(30);
    Duration broken_grace = std::chrono::seconds(5);
    Duration adopt_grace = std::chrono::seconds(1);
};

/// Texts as written, but what is checked here; the supervisor takes them apart.
struct LaunchLogs {
    std::string dir = {};         ///< empty: one of its own
    std::string redirects = "0";  ///< torch's Std.from_str()
    std::string tee = "0";
    std::string out_filters = {};  ///< "loss,epoch"; of what is teed
    std::string error_filters = {};
    std::set<int> shown_ranks = {};  ///< local ones; empty: all
    std::string prefix = {};         ///< ${role_name}, ${local_rank}, ${rank}; empty: the usual one
    std::optional<std::uint64_t> rotate_bytes = {};  ///< nothing: never
    int rotated_files = 5;
};

/// Files of agents' and masters' TLS; all or none.
struct LaunchTls {
    std::string cert = {};
    std::string key = {};
    std::string ca = {};
};

enum class NodeCheckMode : std::uint8_t { kNone, kNodes, kLinks };

/// Everything that muster-run was told, in one piece.
struct LaunchPlan {
    LaunchCommand called = LaunchCommand::kMusterRun;
    Rendezvous rendezvous = {};
    NodeRange nodes = {};
    int node_unit = 1;
    bool grow_at_failure = false;
    int local_size = 1;
    int max_restarts = 0;  ///< as the workers are told it
    std::array<job_protocol::Budget, job_protocol::kCharges> budgets =
        {};  ///< by job_protocol::Charge
    job_protocol::PolicyOptions policy = {};
    LaunchTimes times = {};
    WorkerCommand command = {};
    LaunchLogs logs = {};
    LaunchTls tls = {};
    std::string token_file = {};  ///< empty: none was said
    std::string run_id = {};
    std::string role = {};
    std::string job_dir = {};     ///< empty: one of its own
    std::string rack = {};        ///< where this node stands; empty: not known
    std::string local_addr = {};  ///< empty: address_for_others() finds it
    std::vector<int> signals = {};
    bool virtual_local_rank = false;
    PlacementWish placement = {};  ///< of workers on processors and memory
    bool hook = true;
    /// Nothing: no warm spares. Empty: with the modules that the last run imported.
    std::optional<std::vector<std::string>> warm = {};
    NodeCheckMode node_check = NodeCheckMode::kNone;
    bool exclude_straggler = false;
    std::vector<LaunchNotice> notices = {};  ///< to be said at start
};

/// All that flags and variables say together. Pure. Errors are kInvalid (kNotFound: no Python) and
/// name the flag or variable, what it says, and what it may say.
Result<LaunchPlan> make_launch_plan(const LaunchFlags& flags, const Variables& variables,
                                    const LaunchMachine& machine);

/// For people, and for tests: `muster-run --print-plan`. Bytes that are no UTF-8 become '?'.
std::string to_json(const LaunchPlan& plan);

}  // namespace muster::launch
