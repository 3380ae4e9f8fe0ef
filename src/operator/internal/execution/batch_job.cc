#include "operator/internal/execution/batch_job.h"

namespace muster::operators {

Task<Result<BatchJob>> end_batch_job(kube::Client& client, const JobRecord& job, std::string name,
                                     kube::Propagation propagation) {
    auto found = co_await client.get(kube::types::kBatchJobs, job.namespace_, name);
    if (!found && found.error().code() == Code::kNotFound) co_return BatchJob::kNone;
    if (!found) co_return std::move(found.error());
    const kube::ObjectMeta metadata = metadata_of(**found);
    const kube::OwnerReference* owner = metadata.controller();
    if (owner == nullptr || owner->uid != job.uid.get()) co_return BatchJob::kForeign;
    if (metadata.deleting()) co_return BatchJob::kEnds;
    kube::DeleteOptions options;
    options.propagation = propagation;
    options.precondition_uid = metadata.uid;
    auto removed =
        co_await client.remove(kube::types::kBatchJobs, job.namespace_, name, std::move(options));
    if (removed) co_return BatchJob::kEnds;
    // Gone since, or another one by now: the next call finds out.
    const Code code = removed.error().code();
    if (code == Code::kNotFound || code == Code::kConflict) co_return BatchJob::kEnds;
    co_return std::move(removed.error());
}

}  // namespace muster::operators
