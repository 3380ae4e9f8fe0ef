#include "operator/internal/execution/claims.h"

#include <fmt/format.h>

#include "operator/internal/execution/batch_job.h"
#include "operator/internal/execution/write_batch.h"

namespace muster::operators {
namespace {

/// Takes over from an earlier operator: its pods are adopted once they have no controller.
Task<void> take_over(std::shared_ptr<WriteContext> context, SlotId slot) {
    const std::string batch_job = context->name_of(slot);
    auto stands = co_await end_batch_job(context->client, *context->record, batch_job,
                                         kube::Propagation::kOrphan);
    if (stands && *stands == BatchJob::kForeign)
        stands = Error(Code::kAlreadyExists,
                       fmt::format("Job {}/{} does not belong to this {}, but its pods have the "
                                   "labels of one: {} waits until they are gone; delete the Job",
                                   context->ns(), batch_job, context->record->kind->resource.kind,
                                   context->record->name));
    if (!stands)
        context->fail_and_tell("take over", batch_job, stands.error(), "FailedTakeOver",
                               "Error taking over");
    else if (*stands == BatchJob::kEnds)
        context->tell(
            kube::EventType::kNormal, "TookOver",
            fmt::format("Took over the pods of Job {}, which an earlier operator made", batch_job));
}

/// Patches exactly this object: another of its name has another uid, which the server does not
/// change.
Task<Result<kube::Written>> patch_owner(std::shared_ptr<WriteContext> context,
                                        kube::ResourceType type, Claim claim, json::object owner) {
    json::object patch{
        {"metadata",
         json::object{{"uid", claim.uid}, {"ownerReferences", json::array{std::move(owner)}}}}};
    co_return co_await context->client.patch(
        type, context->ns(), claim.name, kube::ContentType::kStrategicMergePatch, std::move(patch));
}

Task<void> adopt(std::shared_ptr<WriteContext> context, kube::ResourceType type, Claim claim) {
    const JobRecord& job = *context->record;
    auto patched = co_await patch_owner(context, type, claim,
                                        {{"apiVersion", job.kind->resource.api_version()},
                                         {"kind", job.kind->resource.kind},
                                         {"name", job.name},
                                         {"uid", job.uid.get()},
                                         {"controller", true},
                                         {"blockOwnerDeletion", true}});
    if (patched.has_value()) {
        context->tell(
            kube::EventType::kNormal, "Adopted" + type.kind,
            fmt::format("Adopted {}, which had no controller and whose labels name this job",
                        claim.name));
        co_return;
    }
    if (patched.error().code() == Code::kNotFound) co_return;
    context->fail_and_tell("adopt", claim.name, patched.error(), "FailedAdopt" + type.kind,
                           "Error adopting " + claim.name);
}

Task<void> release(std::shared_ptr<WriteContext> context, kube::ResourceType type, Claim claim) {
    auto patched = co_await patch_owner(context, type, claim,
                                        {{"$patch", "delete"}, {"uid", context->job_uid().get()}});
    if (patched.has_value()) {
        context->tell(kube::EventType::kWarning, "Released" + type.kind,
                      fmt::format("Released {}: its labels no longer name a replica of this job",
                                  claim.name));
        co_return;
    }
    // Gone, or another one of its name by now.
    const Code code = patched.error().code();
    if (code == Code::kNotFound || code == Code::kConflict || code == Code::kInvalid) co_return;
    context->fail_and_tell("release", claim.name, patched.error(), "FailedRelease" + type.kind,
                           "Error releasing " + claim.name);
}

}  // namespace

Task<void> claim(std::shared_ptr<WriteContext> context, Plan plan, TaskGroup& tasks, int parallel) {
    if (!plan.adopt_pods.empty() || !plan.adopt_services.empty()) {
        const JobRecord& job = *context->record;
        auto now = co_await context->client.get(job.kind->resource, job.namespace_, job.name);
        if (!now.has_value()) {
            context->fail("read job", job.name, now.error());
            co_return;
        }
        const kube::ObjectMeta metadata = metadata_of(**now);
        if (metadata.uid != job.uid.get() || metadata.deleting()) {
            context->result.complete = false;
            co_return;
        }
    }
    std::vector<Write> writes;
    for (Claim& claim : plan.adopt_pods)
        writes.emplace_back([context, claim] { return adopt(context, kube::types::kPods, claim); });
    for (Claim& claim : plan.adopt_services)
        writes.emplace_back(
            [context, claim] { return adopt(context, kube::types::kServices, claim); });
    for (Claim& claim : plan.release_pods)
        writes.emplace_back(
            [context, claim] { return release(context, kube::types::kPods, claim); });
    for (Claim& claim : plan.release_services)
        writes.emplace_back(
            [context, claim] { return release(context, kube::types::kServices, claim); });
    for (SlotId slot : plan.end_batch_jobs_of)
        writes.emplace_back([context, slot] { return take_over(context, slot); });
    co_await run_writes(tasks, std::move(writes), parallel);
}

}  // namespace muster::operators
