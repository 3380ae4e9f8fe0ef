#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"
#include "store/store.h"

namespace muster::sim {

/// One pod of a replica, as it was ever committed.
struct PodEntry {
    std::string uid;
    std::string id = {};          ///< the index of its replica
    std::int64_t generation = 0;  ///< of a group restart
    std::int64_t before = 0;      ///< restarts of its replica that it was made with
    std::int64_t restarts = 0;    ///< most that any report told
    std::int64_t exit_code = 0;   ///< of a container that failed; 0 if no report told any
    bool has_run = false;
    bool ended = false;
    bool live = false;       ///< there, not being deleted, not ended
    bool gone = false;       ///< from the API
    bool ready = false;      ///< by its last report
    bool was_ready = false;  ///< at any time, or has succeeded
    bool stopped = false;    ///< the operator wanted it to go before it was `bad`
    /// Failed, or taken away by another client while it ran: a pod that follows it is a restart.
    bool bad = false;
    /// Whether it counts is open. The job was edited meanwhile. Or operators die, and one did
    /// between its removal and its successor, or its eviction took its restarts in place from its
    /// status: the next operator knows of them, and of those of its predecessors that it had told
    /// on its behalf, by the job's status alone, and what happens meanwhile hides behind that.
    bool excused = false;
    std::uint64_t gone_in = 0;  ///< term of the operators

    Instant made_at{};
    Instant evidence_at{};  ///< of the last change of `restarts` or `bad`
    /// What an operator has surely seen of them, since it was up while that stood in the API.
    std::int64_t sure_restarts = 0;
    bool sure_bad = false;

    void settle(Instant seen_before);
};

/// When a change was made, and by whom.
struct Circumstances {
    std::string_view who;
    Instant at;
    Instant seen_before;  ///< of InvariantHooks, as are the next two
    bool forgetful = false;
    std::uint64_t terms = 0;
};

/// One replica: its pods, oldest first. Of a kind whose ids rise it is a rank, which the next pod keeps
/// under another id.
struct ReplicaEntry {
    std::vector<PodEntry> pods;
};

/// What is known of one job and its pods, whatever its status says.
struct JobLedger {
    using ReplicaId = std::pair<std::string, std::string>;  ///< type (lower case), rank

    std::string title;  ///< "pytorchjobs default/demo"
    kube::ObjectPtr object;
    bool removed = false;
    std::optional<std::string> final_state;  ///< terminal condition and completionTime, once set
    std::map<std::string, std::int64_t> told_restarts;  ///< by replica type: the most
    std::optional<WallTime> deadline;                   ///< that on_deadline was called for
    std::int64_t generation = 0;                        ///< highest of its pods
    Instant edited_at{};                                ///< of the last change of its spec
    std::map<ReplicaId, ReplicaEntry> replicas;
    /// Ids of one rank that were wanted at once, as a migration wants them: type, earlier, later.
    std::set<std::array<std::string, 3>> takeovers;

    static ReplicaId replica_of(const json::value& pod);
    /// Takes down what a change says about a pod of `replica`, which may be new.
    PodEntry& note_pod(const ReplicaId& replica, const store::StoreChange& change,
                       const Circumstances& now);
    /// The job's status may name ids that take over from others.
    void note_takeovers();
    bool is_takeover(const std::string& type, const PodEntry& one, const PodEntry& other) const;
    /// Whether no replica has anything to become: each runs and is ready, has succeeded, or was
    /// stopped by the operator.
    bool at_rest() const;
    /// The spec was edited: pods may go for that reason from now on.
    void excuse_all();
    void settle_all(Instant seen_before);

    /// Restarts of this type that happened at most.
    /// `forgetful`: pods that the operator stopped may be among them. Of one whose replica was
    /// scaled away and wanted again while it was still going, all that it tells may be there twice:
    /// another pod carries it by then.
    std::int64_t most_restarts(const std::string& type, bool forgetful) const;
    /// Restarts of this type that an operator must know of, by evidence until `when`. Not for
    /// groups, whose pods restart together.
    std::int64_t least_restarts(const std::string& type, Instant when) const;
    std::int64_t least_restarts(Instant when) const;  ///< of all types
    /// Group restarts that happened at most: generations that a pod ended badly in.
    std::int64_t most_generations(bool forgetful) const;

  private:
    PodEntry& entry_of(const ReplicaId& replica, const json::value& pod, const Circumstances& now);
};

}  // namespace muster::sim
