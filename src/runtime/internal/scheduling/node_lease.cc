#include "runtime/internal/scheduling/node_lease.h"

#include "base/log.h"
#include "kube/values/time.h"

namespace muster::runtime {

namespace {

constexpr const char* kNamespace = "kube-node-lease";

}  // namespace

Task<Result<void>> renew_node_lease(kube::Client& client, std::string node, WallTime now) {
    const json::value spec = json::object{{"holderIdentity", node},
                                          {"leaseDurationSeconds", kLeaseDuration.count()},
                                          {"renewTime", kube::format_micro_time(now)}};
    const json::value change = json::object{{"spec", spec}};
    auto renewed = co_await client.patch(kube::types::kLeases, kNamespace, node,
                                         kube::ContentType::kMergePatch, change);
    if (renewed) co_return Result<void>();
    if (renewed.error().code() != Code::kNotFound) co_return std::move(renewed.error());
    const json::value lease =
        json::object{{"apiVersion", kube::types::kLeases.api_version()},
                     {"kind", kube::types::kLeases.kind},
                     {"metadata", json::object{{"name", node}, {"namespace", kNamespace}}},
                     {"spec", spec}};
    auto created = co_await client.create(kube::types::kLeases, kNamespace, lease);
    if (!created) co_return std::move(created.error());
    co_return Result<void>();
}

Task<void> keep_node_lease(kube::Client& client, Clock& clock, std::string node) {
    bool failing = false;
    for (;;) {
        const Result<void> renewed = co_await renew_node_lease(client, node, clock.wall_now());
        if (!renewed && !failing)
            log::warning("the node's lease can't be renewed",
                         {{"error", renewed.error().message()}});
        failing = !renewed;
        co_await clock.sleep_for(kLeaseRenewal);
    }
}

}  // namespace muster::runtime
