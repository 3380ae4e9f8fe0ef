#include "cli/dry_run.h"

#include "cli/internal/manifest/yaml_writer.h"
#include "kube/objects/codec.h"

namespace muster::cli {

namespace {

Result<void> plan_job(const jobs::Job& job, std::vector<json::value>& planned) {
    // As they are before a pod runs, and without what is made by chance.
    if (job.kind->attachments)
        for (const jobs::Attachment& attachment : job.kind->attachments(job, {}))
            planned.push_back(jobs::attachment_object(job, attachment));
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        for (std::int32_t index = 0; index < spec->replicas.value_or(0); ++index) {
            TRY(const kube::Pod pod, jobs::build_pod(job, {type.name, index}));
            planned.push_back(kube::encode(pod));
            if (!job.kind->services) continue;
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

std::string print_objects(const std::vector<json::value>& objects, OutputFormat format) {
    if (format == OutputFormat::kJson) {
        json::array items(objects.begin(), objects.end());
        return to_pretty_json(
            json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
    }
    std::string text;
    for (const json::value& object : objects) {
        if (!text.empty()) text += "---\n";
        text += to_yaml(object);
    }
    return text;
}

}  // namespace muster::cli
