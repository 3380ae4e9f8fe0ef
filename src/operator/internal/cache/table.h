#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// "PyTorchJob/default/demo": one work queue serves all kinds.
std::string queue_key(std::string_view kind, std::string_view namespace_, std::string_view name);

/// Pods and services that have no controller and whose labels name a job: they are to be adopted.
/// Ordered by uid, so that the order tells nothing of the past.
struct Orphans {
    std::vector<PodPtr> pods;
    std::vector<ServicePtr> services;

    bool empty() const { return pods.empty() && services.empty(); }
    friend bool operator==(const Orphans&, const Orphans&) = default;
};

/// All pods and services by the uid of the job that controls them, so that an event costs a lookup
/// and not a walk; those without a controller by the key of the job that they name. Knows nothing
/// of jobs: dependents may appear before their job and outlive it. Thread: one loop.
class Table {
  public:
    /// Moves a pod whose owner has changed. A null `after` removes it.
    void apply(const PodPtr* before, const PodPtr* after) { apply_any(before, after); }
    void apply(const ServicePtr* before, const ServicePtr* after) { apply_any(before, after); }

    /// One of a job's owned objects; null: it does not exist.
    void apply(const OwnedObjectPtr& before, const OwnedObjectPtr& after);

    /// The reference is valid until the job is forgotten.
    Dependents& of(const JobUid& job_uid) { return by_owner_[job_uid]; }
    /// Null if the job has none and none was requested.
    const Dependents* find(const JobUid& job_uid) const;
    /// What a job's owned objects should be may have changed.
    void owned_object_changed(const JobUid& job_uid);
    /// For a job that no longer exists.
    void forget(const JobUid& job_uid);
    const Orphans& orphans_of(const std::string& key) const;

  private:
    template <class Ptr>
    void apply_any(const Ptr* before, const Ptr* after);
    template <class Ptr>
    void remove(const Ptr& object);
    template <class Ptr>
    void add(const Ptr& object);

    std::unordered_map<JobUid, Dependents> by_owner_;
    std::map<std::string, Orphans> orphans_;
};

}  // namespace muster::operators
