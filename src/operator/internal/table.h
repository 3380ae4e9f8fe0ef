#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "operator/internal/records.h"

namespace muster::operators {

/// The pods and services of one job, by replica. More than one pod in a slot means that somebody
/// else made the second: names are deterministic.
struct Slot {
    std::vector<PodPtr> pods;
    ServicePtr service;

    bool empty() const { return pods.empty() && !service; }
};

/// What belongs to one job as far as we know: what the caches show, and what was asked of the API
/// and is not in the caches yet. Without the second part a pass that runs before the watch has
/// caught up would ask again.
struct Dependents {
    std::map<jobs::ReplicaId, Slot> slots;
    std::set<jobs::ReplicaId> pods_being_created;
    std::set<jobs::ReplicaId> services_being_created;
    std::set<std::string> being_deleted;  ///< uids of pods and services

    bool is_going(const PodRecord& pod) const {
        return pod.deleting || being_deleted.contains(pod.uid);
    }
    bool is_going(const ServiceRecord& service) const {
        return service.deleting || being_deleted.contains(service.uid);
    }
};

/// All pods and services by the uid of the job that owns them, so that an event costs a lookup and
/// not a walk. Knows nothing of jobs: dependents may come before their job and outlive it.
/// Thread: one loop.
class Table {
  public:
    /// Pods that share no owner with their former state move. A null `after` removes.
    void apply(const PodPtr* before, const PodPtr* after);
    void apply(const ServicePtr* before, const ServicePtr* after);

    /// Never null; the reference holds until the next change.
    const Dependents& of(const JobUid& job_uid) const;

    // Requests on their way, from before they are sent until the watch shows their effect, they
    // fail, or `expire` gives up on them (the effect may have come and gone unseen).
    void pod_create_sent(const JobUid& job_uid, const jobs::ReplicaId& replica, Instant until);
    void service_create_sent(const JobUid& job_uid, const jobs::ReplicaId& replica, Instant until);
    void delete_sent(const JobUid& job_uid, const std::string& uid, Instant until);
    void pod_create_failed(const JobUid& job_uid, const jobs::ReplicaId& replica);
    void service_create_failed(const JobUid& job_uid, const jobs::ReplicaId& replica);
    void delete_failed(const JobUid& job_uid, const std::string& uid);

    /// Forgets requests of a job that are past their time. Returns when the next is, or
    /// Instant::max().
    Instant expire(const JobUid& job_uid, Instant now);

  private:
    struct Entry {
        Dependents dependents;
        std::map<jobs::ReplicaId, Instant> pod_deadlines;
        std::map<jobs::ReplicaId, Instant> service_deadlines;
        std::map<std::string, Instant> delete_deadlines;

        bool empty() const {
            return dependents.slots.empty() && pod_deadlines.empty() && service_deadlines.empty() &&
                   delete_deadlines.empty();
        }
    };

    Slot& slot(Entry& entry, const jobs::ReplicaId& replica) {
        return entry.dependents.slots[replica];
    }
    void drop_if_empty(const JobUid& job_uid);

    std::unordered_map<JobUid, Entry> by_owner_;
};

}  // namespace muster::operators
