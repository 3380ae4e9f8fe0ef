#include "workloads/internal/pods/pod_writer.h"

#include <fmt/format.h>

namespace muster::workloads {

namespace {

bool is_gone(const Error& error) {
    // A conflict: another pod has the name by now.
    return error.code() == Code::kNotFound || error.code() == Code::kConflict;
}

}  // namespace

Task<Result<void>> PodWriter::make(Owner owner, json::object pod) {
    pod["apiVersion"] = kube::types::kPods.api_version();
    pod["kind"] = kube::types::kPods.kind;
    auto made = co_await client_.create(kube::types::kPods, owner.name.namespace_, std::move(pod));
    if (!made) {
        const std::vector<Cause>& causes = made.error().causes();
        const bool namespace_ends =
            !causes.empty() && causes.front().reason == "NamespaceTerminating";
        if (!namespace_ends)
            events_.record(owner.reference(), kube::EventType::kWarning, "FailedCreate",
                           fmt::format("Error creating: {}", made.error().message()));
        co_return std::move(made.error());
    }
    table_.made(*made->object);
    events_.record(owner.reference(), kube::EventType::kNormal, "SuccessfulCreate",
                   fmt::format("Created pod: {}", kube::name_of(made->object->get_object())));
    co_return Result<void>();
}

Task<Result<void>> PodWriter::remove(Owner owner, PodPtr pod) {
    kube::DeleteOptions options;
    options.precondition_uid = pod->uid;
    auto removed = co_await client_.remove(kube::types::kPods, pod->name.namespace_, pod->name.name,
                                           std::move(options));
    if (!removed && !is_gone(removed.error())) {
        events_.record(owner.reference(), kube::EventType::kWarning, "FailedDelete",
                       fmt::format("Error deleting: {}", removed.error().message()));
        co_return std::move(removed.error());
    }
    table_.removed(*pod);
    if (removed)
        events_.record(owner.reference(), kube::EventType::kNormal, "SuccessfulDelete",
                       fmt::format("Deleted pod: {}", pod->name.name));
    co_return Result<void>();
}

Task<Result<void>> PodWriter::untrack(PodPtr pod) {
    const json::value patch{
        {"metadata",
         {{"uid", pod->uid},
          {"$deleteFromPrimitiveList/finalizers", json::array{kTrackingFinalizer}}}}};
    auto patched = co_await client_.patch(kube::types::kPods, pod->name.namespace_, pod->name.name,
                                          kube::ContentType::kStrategicMergePatch, patch);
    if (!patched && !is_gone(patched.error())) co_return std::move(patched.error());
    co_return Result<void>();
}

}  // namespace muster::workloads
