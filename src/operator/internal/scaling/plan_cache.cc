#include "operator/internal/scaling/plan_cache.h"

#include <optional>
#include <utility>

#include "operator/internal/cache/table.h"

namespace muster::operators {
namespace {

kube::ListOptions all_of(std::string namespace_) {
    kube::ListOptions options;
    options.namespace_ = std::move(namespace_);
    return options;
}

}  // namespace

PlanCache::PlanCache(kube::Client& client, Clock& clock, Rng& rng, std::string job_kind,
                     std::string namespace_, Handler changed, std::function<void()> listed)
    : job_kind_(std::move(job_kind)),
      changed_(std::move(changed)),
      informer_(client, clock, rng, jobs::kScalePlans, all_of(std::move(namespace_)),
                [](const json::value& object) { return std::optional(project_plan(object)); }) {
    informer_.on_change([this](const std::string&, const PlanPtr* before, const PlanPtr* after) {
        this->changed(before, after);
    });
    informer_.on_list([listed = std::move(listed)](const Error* error) {
        if (error == nullptr) listed();
    });
}

std::string PlanCache::key_of(const PlanRecord& plan) const {
    return queue_key(job_kind_, plan.namespace_, plan.job_name);
}

std::vector<PlanPtr> PlanCache::plans_of(const std::string& key) const {
    std::vector<PlanPtr> all;
    if (const auto found = by_job_.find(key); found != by_job_.end())
        for (const auto& [uid, plan] : found->second) all.push_back(plan);
    return all;
}

void PlanCache::changed(const PlanPtr* before, const PlanPtr* after) {
    if (before != nullptr) {
        const auto found = by_job_.find(key_of(**before));
        if (found != by_job_.end() && found->second.erase((*before)->uid) > 0 &&
            found->second.empty())
            by_job_.erase(found);
    }
    if (after != nullptr) by_job_[key_of(**after)].insert_or_assign((*after)->uid, *after);
    changed_(before, after);
}

}  // namespace muster::operators
