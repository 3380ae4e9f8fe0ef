#include "manifest/planned_objects.h"

#include "kube/objects/codec.h"

namespace muster::manifest {

namespace {

Result<void> plan_job(const jobs::Job& job, std::vector<json::value>& planned) {
    // As they are before any pod runs, and without random parts.
    if (job.kind->owned_objects)
        for (const jobs::OwnedObject& owned_object : job.kind->owned_objects(job, {}))
            planned.push_back(jobs::owned_object_manifest(job, owned_object));
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        for (std::int32_t index = 0; index < spec->replicas.value_or(0); ++index) {
            TRY(const kube::Pod pod, jobs::build_pod(job, {type.name, index}));
            planned.push_back(kube::encode(pod));
            if (!jobs::has_services(job, type.name)) continue;
            TRY(const kube::Service service, jobs::build_service(job, {type.name, index}));
            planned.push_back(kube::encode(service));
        }
    }
    return {};
}

}  // namespace

Result<std::vector<json::value>> planned_objects(const std::vector<CheckedObject>& objects) {
    std::vector<json::value> planned;
    for (const CheckedObject& object : objects) {
        if (object.job)
            TRY_VOID(plan_job(*object.job, planned));
        else if (object.type == kube::types::kPods || object.type == kube::types::kServices)
            planned.push_back(object.document.object);
    }
    return planned;
}

}  // namespace muster::manifest
