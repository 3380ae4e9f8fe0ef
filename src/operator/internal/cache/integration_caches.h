#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/internal/cache/integration_state.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

/// Caches of the objects that integrate jobs with other programs, and of PriorityClasses. A type is
/// listed and watched once the first job needs it. Apart from jobs' own objects, only
/// PriorityClasses are read.
///
/// A type that the cluster does not have is requested again, at growing intervals up to a minute,
/// and is used once it exists. Thread: one loop, that of the group.
class IntegrationCaches {
  public:
    struct Handlers {
        OwnedObjectChanged changed;
        /// More or less is known about objects of this type than before.
        std::function<void(IntegrationType)> known;
        std::function<void()> priorities_changed;
    };

    IntegrationCaches(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                      std::string namespace_, Handlers handlers);

    void want(const IntegrationNeeds& needs);

    IntegrationState state_for(const JobRecord& job) const;
    /// Null if there is none, or it has no job's label.
    OwnedObjectPtr find(const kube::ResourceType& type, const std::string& ns,
                        const std::string& name) const;
    const Priorities& priorities() const { return priorities_; }

  private:
    struct PriorityClass {
        std::int32_t value = 0;
        bool is_default = false;

        friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
    };
    template <class T>
    struct Cache {
        std::unique_ptr<kube::Informer<T>> informer;
        Knowledge knowledge = Knowledge::kNone;
        std::string problem;
    };

    template <class T>
    bool learn(Cache<T>& cache, const kube::ResourceType& type, const Error* error);
    void watch(IntegrationType type);
    void watch_priorities();
    void sum_up_priorities();

    kube::Client& client_;
    Clock& clock_;
    Rng& rng_;
    TaskGroup& tasks_;
    std::string namespace_;
    Handlers handlers_;
    std::map<IntegrationType, Cache<OwnedObjectPtr>> objects_;
    Cache<PriorityClass> classes_;
    Priorities priorities_;
};

}  // namespace muster::operators
