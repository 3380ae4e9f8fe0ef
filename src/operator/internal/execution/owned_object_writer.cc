#include "operator/internal/execution/owned_object_writer.h"

#include <fmt/format.h>

#include "kube/values/document.h"

namespace muster::operators {
namespace {

const std::string kJobName(jobs::labels::kJobName);

void set_label(json::object& object, const std::string& job_name) {
    json::value& labels = object["metadata"].as_object()["labels"];
    if (!labels.is_object()) labels = json::object();
    labels.get_object()[kJobName] = job_name;
}

bool is_of(const jobs::Job& job, const kube::ObjectMeta& metadata) {
    const kube::OwnerReference* owner = metadata.controller();
    return owner != nullptr && owner->uid == job.metadata.uid;
}

std::string title(const jobs::Job& job, const jobs::OwnedObject& owned_object) {
    return fmt::format("{} {}/{}", owned_object.type.kind, job.metadata.namespace_,
                       owned_object.name);
}

Error foreign(const jobs::Job& job, const jobs::OwnedObject& wanted,
              const kube::ObjectMeta& metadata) {
    return Error(Code::kAlreadyExists,
                 fmt::format("{} already exists and {}: {} {} waits until it is gone; delete it or "
                             "rename the job",
                             title(job, wanted), owner_text(metadata), job.kind->resource.kind,
                             job.metadata.name));
}

}  // namespace

bool is_right(const OwnedObjectPtr& known, const jobs::Job& job, const jobs::OwnedObject& wanted) {
    return known != nullptr && known->owner_uid.get() == job.metadata.uid && !known->deleting &&
           !differs(known->content, wanted);
}

Task<Result<OwnedObjectOutcome>> ensure_owned_object(kube::Client& client, OwnedObjectPtr known,
                                                     std::shared_ptr<const jobs::Job> job,
                                                     jobs::OwnedObject wanted) {
    using enum OwnedObjectOutcome;
    const std::string& ns = job->metadata.namespace_;
    const bool is_there = known != nullptr;
    if (is_right(known, *job, wanted)) co_return kWasRight;

    if (wanted.make) CO_TRY_VOID(wanted.make(wanted.content));
    if (!is_there) {
        auto created =
            co_await client.create(wanted.type, ns, jobs::owned_object_manifest(*job, wanted));
        if (created.has_value()) co_return kMade;
        if (created.error().code() != Code::kAlreadyExists) co_return std::move(created.error());
    }
    // Ours from an earlier try that the watch is about to show, ours and different, or foreign.
    auto live = co_await client.get(wanted.type, ns, wanted.name);
    if (!live.has_value() && live.error().code() != Code::kNotFound)
        co_return std::move(live.error());
    if (!live.has_value())
        co_return Error(Code::kConflict, title(*job, wanted) + " was there and is gone again");
    const kube::ObjectMeta metadata = metadata_of(**live);
    if (!is_of(*job, metadata)) co_return foreign(*job, wanted, metadata);
    if (metadata.deleting())
        co_return Error(Code::kConflict, title(*job, wanted) + " is being deleted");
    const auto label = metadata.labels.find(kJobName);
    const bool is_labelled = label != metadata.labels.end() && label->second == job->metadata.name;
    const bool is_wrong = differs(project_owned_object(wanted.type, **live).content, wanted);
    if (is_labelled && !is_wrong) co_return kWasRight;
    json::object right = corrected(kube::copy_of((*live)->get_object()), wanted);
    if (!is_labelled) set_label(right, job->metadata.name);
    auto updated = co_await client.update(wanted.type, ns, wanted.name, std::move(right));
    if (!updated.has_value()) co_return std::move(updated.error());
    co_return is_wrong ? kCorrected : kWasRight;
}

}  // namespace muster::operators
