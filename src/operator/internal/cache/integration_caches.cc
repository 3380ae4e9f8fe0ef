#include "operator/internal/cache/integration_caches.h"

#include <fmt/format.h>

#include "kube/values/json_access.h"
#include "operator/internal/integrations/integrations.h"

namespace muster::operators {
namespace {

const kube::ResourceType kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses",
                                          "PriorityClass", false};

/// The reason, if the error does not pass by itself.
std::optional<std::string> refusal(const kube::ResourceType& type, const Error& error) {
    if (error.code() == Code::kNotFound)
        return fmt::format(
            "the cluster has no CustomResourceDefinition {} with version {}: install what it "
            "belongs to, or have the job placed by another scheduler",
            type.qualified(), type.version);
    if (error.code() == Code::kForbidden || error.code() == Code::kUnauthorized)
        return fmt::format("the operator is not allowed to list and watch {}: {}", type.qualified(),
                           error.message());
    return std::nullopt;
}

}  // namespace

IntegrationCaches::IntegrationCaches(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                                     std::string namespace_, Handlers handlers)
    : client_(client),
      clock_(clock),
      rng_(rng),
      tasks_(tasks),
      namespace_(std::move(namespace_)),
      handlers_(std::move(handlers)) {}

void IntegrationCaches::want(const IntegrationNeeds& needs) {
    for (const DesiredObject& desired : needs.objects)
        if (!objects_.contains(desired.type)) watch(desired.type);
    if (needs.reads_priorities && !classes_.informer) watch_priorities();
}

/// Called after a list; true if that made a difference.
template <class T>
bool IntegrationCaches::learn(Cache<T>& cache, const kube::ResourceType& type, const Error* error) {
    Knowledge knowledge = Knowledge::kCurrent;
    std::string problem;
    if (error != nullptr) {
        std::optional<std::string> refused = refusal(type, *error);
        if (!refused) return false;
        knowledge = Knowledge::kRefused;
        problem = *std::move(refused);
    }
    if (cache.knowledge == knowledge) return false;
    cache.knowledge = knowledge;
    cache.problem = std::move(problem);
    return true;
}

void IntegrationCaches::watch(IntegrationType type) {
    const kube::ResourceType& resource = resource_of(type);
    kube::ListOptions options;
    options.namespace_ = namespace_;
    options.label_selector = jobs::owned_objects_selector();
    Cache<OwnedObjectPtr>& cache = objects_[type];
    cache.informer = std::make_unique<kube::Informer<OwnedObjectPtr>>(
        client_, clock_, rng_, resource, std::move(options),
        [&resource](const json::value& object) -> std::optional<OwnedObjectPtr> {
            return std::make_shared<const OwnedObjectRecord>(
                project_owned_object(resource, object));
        });
    cache.informer->on_change(
        [this](const std::string&, const OwnedObjectPtr* before, const OwnedObjectPtr* after) {
            // Schedulers and autoscalers record every step.
            if (before != nullptr && after != nullptr && **before == **after) return;
            handlers_.changed(before == nullptr ? nullptr : *before,
                              after == nullptr ? nullptr : *after);
        });
    cache.informer->on_list([this, type, &cache, &resource](const Error* error) {
        if (learn(cache, resource, error)) handlers_.known(type);
    });
    cache.informer->start(tasks_);
}

void IntegrationCaches::watch_priorities() {
    classes_.informer = std::make_unique<kube::Informer<PriorityClass>>(
        client_, clock_, rng_, kPriorityClasses, kube::ListOptions{},
        [](const json::value& object) -> std::optional<PriorityClass> {
            const json::object& fields = object.get_object();
            const std::int64_t value = kube::int_at(fields, "value").value_or(0);
            return PriorityClass{static_cast<std::int32_t>(value),
                                 kube::bool_at(fields, "globalDefault")};
        });
    classes_.informer->on_change(
        [this](const std::string&, const PriorityClass* before, const PriorityClass* after) {
            if (classes_.knowledge != Knowledge::kCurrent) return;
            if (before != nullptr && after != nullptr && *before == *after) return;
            sum_up_priorities();
            handlers_.priorities_changed();
        });
    classes_.informer->on_list([this](const Error* error) {
        if (!learn(classes_, kPriorityClasses, error)) return;
        sum_up_priorities();
        handlers_.priorities_changed();
    });
    classes_.informer->start(tasks_);
}

void IntegrationCaches::sum_up_priorities() {
    priorities_ = {};
    for (const auto& [name, one] : classes_.informer->items()) {
        priorities_.values[name] = one.value;
        if (one.is_default) priorities_.of_others = one.value;
    }
}

IntegrationState IntegrationCaches::state_for(const JobRecord& job) const {
    IntegrationState seen;
    if (!job.facts) return seen;
    for (const DesiredObject& desired : job.facts->integrations.objects) {
        const auto cache = objects_.find(desired.type);
        if (cache == objects_.end()) {
            seen.objects.push_back({.desired = desired});
            continue;
        }
        OwnedObjectPtr object = find(resource_of(desired.type), job.namespace_, job.name);
        if (object && object->owner_uid != job.uid) object.reset();
        seen.objects.push_back({.desired = desired,
                                .knowledge = cache->second.knowledge,
                                .problem = cache->second.problem,
                                .object = std::move(object)});
    }
    // Those that can't be read count as zero, as a missing one does.
    seen.priorities_known =
        !job.facts->integrations.reads_priorities || classes_.knowledge != Knowledge::kNone;
    return seen;
}

OwnedObjectPtr IntegrationCaches::find(const kube::ResourceType& type, const std::string& ns,
                                       const std::string& name) const {
    for (const auto& [integration, cache] : objects_) {
        if (resource_of(integration) != type) continue;
        const OwnedObjectPtr* found = cache.informer->find(kube::NamespacedName{ns, name});
        return found == nullptr ? nullptr : *found;
    }
    return nullptr;
}

}  // namespace muster::operators
