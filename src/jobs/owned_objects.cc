#include <fmt/format.h>

#include "jobs/kind.h"
#include "kube/objects/codec.h"

namespace muster::jobs {

bool has_owned_objects(const Job& job) {
    if (!job.kind->owned_objects) return false;
    return !job.kind->has_owned_objects || job.kind->has_owned_objects(job);
}

std::vector<kube::ResourceType> owned_types(const JobKind& kind, const Platform& platform) {
    std::vector<kube::ResourceType> all = kind.owned_types;
    if (platform.agent_tokens)
        all.insert(all.end(), kind.token_types.begin(), kind.token_types.end());
    if (platform.runs_masters())
        all.insert(all.end(), kind.master_types.begin(), kind.master_types.end());
    return all;
}

json::object owned_object_manifest(const Job& job, const OwnedObject& owned_object) {
    kube::ObjectMeta metadata;
    metadata.name = owned_object.name;
    metadata.namespace_ = job.metadata.namespace_;
    metadata.labels = owned_object.labels;
    metadata.annotations = owned_object.annotations;
    metadata.labels[std::string(labels::kJobName)] = job.metadata.name;
    metadata.owner_references.push_back(owner_reference(job));
    json::object object{{"apiVersion", owned_object.type.api_version()},
                        {"kind", owned_object.type.kind},
                        {"metadata", kube::encode(metadata)}};
    for (const auto& [key, value] : owned_object.content) object.insert_or_assign(key, value);
    return object;
}

/// Only replicas have the label of the controller's name: the engine takes everything with that
/// label for a replica.
std::string owned_objects_selector() {
    return fmt::format("{},!{}", labels::kJobName, labels::kOperatorName);
}

}  // namespace muster::jobs
