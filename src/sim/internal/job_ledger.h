#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kube/json.h"

namespace muster::sim {

/// One pod of a replica, as it was ever committed.
struct PodEntry {
    std::string uid;
    std::int64_t generation = 0;  ///< of a group restart
    std::int64_t restarts = 0;    ///< most that any report told
    bool failed = false;          ///< was seen in phase Failed
    bool ended = false;
    bool taken = false;  ///< deleted by somebody else than the operator while it had not ended
    bool live = false;   ///< there, not being deleted, not ended

    /// Whether a pod that follows it is a restart.
    bool calls_for_another() const { return failed || taken; }
};

/// One replica index: its pods, oldest first.
struct ReplicaEntry {
    std::vector<PodEntry> pods;
};

/// What is known of one job and its pods, whatever its status says.
struct JobLedger {
    std::string title;  ///< "pytorchjobs default/demo"
    kube::ObjectPtr object;
    bool removed = false;
    std::optional<std::string> final_state;  ///< terminal condition and completionTime, once set
    std::map<std::string, std::int64_t> told_restarts;  ///< by replica type: the most
    std::string deadline_for;       ///< startTime and value that on_deadline was called for
    bool was_edited = false;        ///< spec changed: suspended or scaled
    std::int64_t replacements = 0;  ///< pods made after one that called for another
    std::int64_t generation = 0;    ///< highest of its pods
    std::map<std::pair<std::string, std::string>, ReplicaEntry> replicas;  ///< type (lower), index

    /// Restarts of this type that happened at most, and at least.
    std::int64_t most_restarts(const std::string& type) const;
    std::int64_t least_restarts(const std::string& type) const;
};

}  // namespace muster::sim
