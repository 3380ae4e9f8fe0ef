#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"

namespace muster::operators {

/// One object that a job leaves behind, exactly as we last saw it: if it has been given to another
/// owner since, its resourceVersion differs.
struct RemainingDependent {
    bool is_pod = true;
    std::string name;
    std::string uid;
    std::string resource_version;

    friend bool operator==(const RemainingDependent&, const RemainingDependent&) = default;
};

/// The pods of a job that are not being deleted; its services once no pod is left: objects that
/// hold resources go first, and pods that are ending can find each other until then. Pure.
std::vector<RemainingDependent> remaining_dependents(const jobs::JobKind& kind,
                                                     const Dependents& dependents);

/// Deletes what jobs leave behind when they are deleted, many at a time: a cluster's garbage
/// collector, which does the same in the end, takes a tenth of a second for each. Orphaned objects
/// are not touched: the server refuses the deletion of an object that has changed since, and the
/// owner of an orphan was removed before the job was.
///
/// Refers to all its arguments. Thread: one loop.
class CascadingDeleter {
  public:
    CascadingDeleter(kube::Client& client, TaskGroup& tasks, Table& table, int parallel);

    /// The job is gone, or will be when its dependents are gone.
    void add(const std::string& key, const JobRecord& job);
    /// The same if the deletion was not seen: asks the API. True if the job is gone.
    Task<bool> add_if_gone(std::string key, JobRecord job);
    /// Deletes what is left of the jobs with this key. False: something failed and has to be tried
    /// again.
    Task<bool> reconcile(std::string key);

  private:
    struct DeletedJob {
        const jobs::JobKind* kind;
        std::string namespace_;
        std::string name;
        JobUid uid;
        std::unordered_set<std::string> asked = {};  ///< uids whose deletion was requested
    };

    Task<void> remove(std::shared_ptr<DeletedJob> gone, RemainingDependent object,
                      kube::Client client, std::shared_ptr<bool> complete);

    kube::Client& client_;
    TaskGroup& tasks_;
    Table& table_;
    int parallel_;
    std::unordered_map<std::string, std::vector<std::shared_ptr<DeletedJob>>> deleted_;
};

}  // namespace muster::operators
