#include "apiserver/internal/verbs/metrics.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

json::object resources(const kube::Usage& usage) {
    return {{"cpu", fmt::format("{}n", usage.cpu_nanos)},
            {"memory", fmt::format("{}Ki", usage.memory_bytes / 1024)}};
}

}  // namespace

kube::ObjectPtr metrics_of(const ResourceDef& def, const json::object& object,
                           const kube::NodeUsage& usage) {
    const std::string at = kube::format_time(usage.at);
    json::object metadata{{"name", name_of(object)}, {"creationTimestamp", at}};
    if (def.type.namespaced) metadata["namespace"] = namespace_of(object);
    if (const json::object* labels = object_at(metadata_of(object), "labels"))
        metadata["labels"] = *labels;
    const auto seconds = std::chrono::duration<double>(usage.window).count();
    json::object metrics{{"kind", def.type.kind},
                         {"apiVersion", def.type.api_version()},
                         {"metadata", std::move(metadata)},
                         {"timestamp", at},
                         {"window", fmt::format("{:.3f}s", seconds)}};
    if (!def.type.namespaced) {
        if (name_of(object) != usage.node) return nullptr;
        metrics["usage"] = resources(usage.machine);
    } else {
        const auto pod = std::ranges::find(usage.pods, uid_of(object), &kube::PodUsage::uid);
        if (pod == usage.pods.end()) return nullptr;
        json::array& containers = metrics["containers"].emplace_array();
        for (const kube::ContainerUsage& container : pod->containers)
            containers.push_back(
                json::object{{"name", container.name}, {"usage", resources(container.usage)}});
    }
    return std::make_shared<const json::value>(std::move(metrics));
}

}  // namespace muster::apiserver
