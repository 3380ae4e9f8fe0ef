#include <fmt/format.h>

#include "jobs/kind.h"
#include "kube/objects/codec.h"

namespace muster::jobs {

json::object attachment_object(const Job& job, const Attachment& attachment) {
    kube::ObjectMeta metadata;
    metadata.name = attachment.name;
    metadata.namespace_ = job.metadata.namespace_;
    metadata.labels = attachment.labels;
    metadata.annotations = attachment.annotations;
    metadata.labels[std::string(labels::kJobName)] = job.metadata.name;
    metadata.owner_references.push_back(owner_reference(job));
    json::object object{{"apiVersion", attachment.type.api_version()},
                        {"kind", attachment.type.kind},
                        {"metadata", kube::encode(metadata)}};
    for (const auto& [key, value] : attachment.content) object.insert_or_assign(key, value);
    return object;
}

/// The label that says whose controller it is belongs to replicas alone: the engine takes whatever
/// carries it for one.
std::string attachments_selector() {
    return fmt::format("{},!{}", labels::kJobName, labels::kOperatorName);
}

}  // namespace muster::jobs
