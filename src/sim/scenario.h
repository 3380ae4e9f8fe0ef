#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/faulty_transport.h"
#include "sim/pod_life.h"

namespace muster::sim {

/// Something that happens again and again while faults happen. `every.most` zero: never.
struct Recurring {
    DurationRange every{};
    DurationRange lasts{};

    bool happens() const { return every.most > Duration::zero(); }
};

/// Jobs made by chance: numbers and policies are drawn for each.
struct GeneratedJobs {
    int count = 1;
    DurationRange spacing{};  ///< between one and the next
    std::vector<std::string> kinds{"PyTorchJob"};
    /// Of the types that a kind allows one of, as a master; the number of workers. Of other types
    /// there are none to two.
    std::pair<int, int> masters{1, 1};
    std::pair<int, int> workers{1, 3};
    std::vector<std::string> restart_policies{"OnFailure"};
    std::vector<std::string> clean_pod_policies{"None"};
    std::pair<int, int> backoff_limit{};
    double with_backoff_limit = 0;
    DurationRange deadline{};
    double with_deadline = 0;
    DurationRange ttl{};
    double with_ttl = 0;
    double suspended = 0;
    double group_restart = 0;    ///< annotated so
    double replica_restart = 0;  ///< of the others
    /// PyTorchJobs with an elasticPolicy and no master, whose pods run muster-run.
    double elastic = 0;
    std::pair<int, int> min_workers{1, 1};  ///< of its elasticPolicy, as are the next
    std::pair<int, int> max_restarts{3, 3};
    /// ElasticJobs, whose pods run muster-run with such numbers, have a master in a pod of its own. Of
    /// these: their nodes are as many as there are workers.
    double node_num = 0;
};

struct NodeFaults {
    Recurring death;
    Recurring silence;
    Recurring late;  ///< reports come later by one of `late_by`
    DurationRange late_by{};
    Recurring eviction;
    Recurring crash;  ///< of a pod's containers, with 137
};

struct OperatorFaults {
    Recurring crash;  ///< `lasts`: until another one starts
    double crash_before_write = 0;
    double crash_after_write = 0;
    DurationRange restart_delay{};  ///< of the crashes at writes
};

/// What muster-run does in the pods whose command it is: a real agent, with the job's master where
/// the pod is the host of its endpoint, and simulated workers. `work.most` zero: such pods have a
/// drawn life, as all others do.
struct Training {
    DurationRange
        work{};  ///< for which all workers of a world have to run, in one piece or several
    DurationRange worker_start{};
    DurationRange worker_stop{};  ///< from SIGTERM to the end; the grace period at most

    bool happens() const { return work.most > Duration::zero(); }
};

/// What goes wrong with agents, their workers, links and records.
struct TrainingFaults {
    Recurring worker_death;
    double program_error = 0;  ///< of those deaths: by an error of the program
    Recurring link_cut;
    Recurring late_cut;  ///< what the node said before comes by one of `late_cut_by` later
    DurationRange late_cut_by{};
    Recurring half_cut;   ///< one side does not know
    Recurring partition;  ///< nothing gets out, or in, or neither
    Recurring slow_link;  ///< each message takes one of `slow_link_by` longer
    DurationRange slow_link_by{};
    Recurring lost_records;  ///< what a master writes fails, or seems to
    Recurring master_death;  ///< of a master in a pod of its own
};

struct UserActions {
    Recurring scale;
    Recurring scale_plan;  ///< made, and sometimes changed or removed, for jobs that have them
    Recurring suspend;     ///< `lasts`: until the job is resumed
    Recurring delete_pod;
    Recurring delete_service;
    Recurring delete_job;
    Recurring annotate;
};

/// The agents and masters of one elastic job alone, with no pods and no operator around them
/// (elastic/elastic_run.h). Its faults are drawn by themselves.
struct AgentsAlone {
    std::pair<int, int> nodes{1, 6};
    int faults = 25;
    Duration time = std::chrono::seconds(60);
};

/// What a world is made of. Faults end at `faults_until`: then nodes come back, suspended jobs are
/// resumed, pods succeed, and by `duration` everything must have ended.
struct Scenario {
    std::string description;
    int nodes = 4;
    int operators = 1;
    bool election = false;  ///< one of the operators leads and the others wait
    Duration duration = std::chrono::hours(3);
    Duration faults_until = std::chrono::minutes(20);
    bool report_every_phase = true;
    std::vector<json::object> manifests;  ///< posted at the beginning
    std::vector<GeneratedJobs> jobs;
    PodBehaviour pods;
    TransportFaults operator_api;  ///< of pods that reach the API, too
    TransportFaults node_api;
    Recurring api_away;  ///< from all but the user
    /// Fault points of the code itself (base/fault.h).
    double fault_sites = 0;
    double fault_fires = 0;
    NodeFaults node_faults;
    OperatorFaults operator_faults;
    Training training;
    TrainingFaults training_faults;
    Recurring clock_jump;
    DurationRange clock_jump_by{};
    UserActions user;
    /// Invariants that this world does not hold, by name (ledger/ledger.h); each needs a reason in the
    /// file.
    std::vector<std::string> except;
    /// Then nothing else of this counts.
    std::optional<AgentsAlone> agents_alone;
};

/// The reason of a cause about a key that a scenario does not have.
inline constexpr std::string_view kUnknownField = "FieldUnknown";

/// Unknown keys and wrong values are kInvalid, all of them, each with its path.
Result<Scenario> read_scenario(const json::value& value);
/// Puts the faults of `value` over those of a scenario: a scenario without jobs and times.
Result<void> add_faults(Scenario& scenario, const json::value& value);

}  // namespace muster::sim
