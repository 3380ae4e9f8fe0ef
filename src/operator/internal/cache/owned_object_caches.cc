#include "operator/internal/cache/owned_object_caches.h"

#include <algorithm>

namespace muster::operators {

OwnedObjectCaches::OwnedObjectCaches(kube::Client& client, Clock& clock, Rng& rng,
                                     std::span<const jobs::JobKind* const> kinds,
                                     const jobs::Platform& platform, const std::string& namespace_,
                                     const OwnedObjectChanged& changed) {
    kube::ListOptions options;
    options.namespace_ = namespace_;
    options.label_selector = jobs::owned_objects_selector();
    for (const jobs::JobKind* kind : kinds)
        for (const kube::ResourceType& type : jobs::owned_types(*kind, platform)) {
            if (std::ranges::find(types_, type, &OfType::type) != types_.end()) continue;
            auto informer = std::make_unique<kube::Informer<OwnedObjectPtr>>(
                client, clock, rng, type, options,
                [type](const json::value& object) -> std::optional<OwnedObjectPtr> {
                    return std::make_shared<const OwnedObjectRecord>(
                        project_owned_object(type, object));
                });
            informer->on_change([changed](const std::string&, const OwnedObjectPtr* before,
                                          const OwnedObjectPtr* after) {
                changed(before == nullptr ? nullptr : *before, after == nullptr ? nullptr : *after);
            });
            types_.push_back({type, std::move(informer)});
        }
}

void OwnedObjectCaches::start(TaskGroup& tasks) {
    for (OfType& of_type : types_) of_type.informer->start(tasks);
}

Task<void> OwnedObjectCaches::wait_synced() {
    for (OfType& of_type : types_) co_await of_type.informer->wait_synced();
}

OwnedObjectPtr OwnedObjectCaches::find(const kube::ResourceType& type,
                                       const std::string& namespace_,
                                       const std::string& name) const {
    const auto of_type = std::ranges::find(types_, type, &OfType::type);
    if (of_type == types_.end()) return nullptr;
    const OwnedObjectPtr* found = of_type->informer->find(kube::NamespacedName{namespace_, name});
    return found == nullptr ? nullptr : *found;
}

}  // namespace muster::operators
