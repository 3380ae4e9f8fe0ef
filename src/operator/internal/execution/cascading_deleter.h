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

/// One object that a job leaves behind, exactly as we last saw it: were it given to somebody else
/// since, its resourceVersion would differ.
struct RemainingDependent {
    bool is_pod = true;
    std::string name;
    std::string uid;
    std::string resource_version;

    friend bool operator==(const RemainingDependent&, const RemainingDependent&) = default;
};

/// The pods of a job that are not on their way out; its services once no pod is left: what holds
/// machines goes first, and pods that end find each other until then. Pure.
std::vector<RemainingDependent> remaining_dependents(const jobs::JobKind& kind,
                                                     const Dependents& dependents);

/// Deletes what jobs leave behind when they are deleted, many at a time: a cluster's garbage
/// collector, which does the same in the end, takes a tenth of a second for each. Nothing that was
/// orphaned is touched: the server refuses a deletion of what has changed since, and its owner was
/// taken away before the job went.
///
/// Refers to all that it is made with. Thread: one loop.
class CascadingDeleter {
  public:
    CascadingDeleter(kube::Client& client, TaskGroup& tasks, Table& table, int parallel);

    /// The job is gone, or goes when its dependents have gone.
    void add(const std::string& key, const JobRecord& job);
    /// The same where nobody saw the job go: asks the API. True when it is gone.
    Task<bool> add_if_gone(std::string key, JobRecord job);
    /// Deletes what those of this key still have. False: something failed and wants another try.
    Task<bool> reconcile(std::string key);

  private:
    struct DeletedJob {
        const jobs::JobKind* kind;
        std::string namespace_;
        std::string name;
        JobUid uid;
        std::unordered_set<std::string> asked = {};  ///< uids of what was asked to go
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
