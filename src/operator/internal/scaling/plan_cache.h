#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/internal/scaling/plan_record.h"

namespace muster::operators {

/// The ScalePlans of a cluster by the job that they name, kept current by a watch. A cluster without
/// their definition has none: it is asked again, at growing intervals up to a minute. Thread: the
/// loop of the group.
class PlanCache {
  public:
    /// As an informer's; called when the cache has changed.
    using Handler = std::function<void(const PlanPtr* before, const PlanPtr* after)>;

    /// `listed`: called after each complete list.
    PlanCache(kube::Client& client, Clock& clock, Rng& rng, std::string job_kind,
              std::string namespace_, Handler changed, std::function<void()> listed);

    void start(TaskGroup& tasks) { informer_.start(tasks); }

    /// The queue_key() of the job.
    std::string key_of(const PlanRecord& plan) const;
    /// Of the job with this key.
    std::vector<PlanPtr> plans_of(const std::string& key) const;
    bool has_plans(const std::string& key) const { return by_job_.contains(key); }
    /// Whether an object has this name, whatever job it names.
    bool has_object(const std::string& namespace_, const std::string& name) const {
        return informer_.find(kube::NamespacedName{namespace_, name}) != nullptr;
    }
    /// False until all that there are were listed.
    bool has_synced() const { return informer_.has_synced(); }

  private:
    void changed(const PlanPtr* before, const PlanPtr* after);

    std::string job_kind_;
    Handler changed_;
    std::unordered_map<std::string, std::map<std::string, PlanPtr>> by_job_;  ///< then by uid
    kube::Informer<PlanPtr> informer_;
};

}  // namespace muster::operators
