#include "workloads/internal/deployments/replica_set_table.h"

#include "kube/values/json_access.h"
#include "workloads/internal/deployments/app_types.h"

namespace muster::workloads {

namespace {

std::optional<ReplicaSetTable::Record> record_of(const json::value& set) {
    const json::object* object = set.if_object();
    if (object == nullptr) return std::nullopt;
    ReplicaSetTable::Record record{kube::namespaced_name_of(*object), {}};
    for (const json::object* owner :
         kube::objects_at(kube::metadata_of(*object), "ownerReferences"))
        if (kube::bool_at(*owner, "controller") &&
            kube::string_at(*owner, "kind") == kDeployments.kind)
            record.deployment = kube::string_at(*owner, "name");
    return record;
}

std::string deployment_key(const ReplicaSetTable::Record& record) {
    return kube::NamespacedName{record.name.namespace_, record.deployment}.text();
}

}  // namespace

ReplicaSetTable::ReplicaSetTable(kube::Client& client, Clock& clock, Rng& rng)
    : informer_(client, clock, rng, kReplicaSets, {}, record_of) {
    informer_.on_change([this](const std::string&, const Record* before, const Record* after) {
        take_in(before, after);
        for (const Changed& changed : changed_) {
            if (before != nullptr && (after == nullptr || before->deployment != after->deployment))
                changed(*before);
            if (after != nullptr) changed(*after);
        }
    });
}

void ReplicaSetTable::take_in(const Record* before, const Record* after) {
    if (before != nullptr && !before->deployment.empty()) {
        const auto found = by_deployment_.find(deployment_key(*before));
        if (found != by_deployment_.end()) {
            found->second.erase(before->name.name);
            if (found->second.empty()) by_deployment_.erase(found);
        }
    }
    if (after != nullptr && !after->deployment.empty())
        by_deployment_[deployment_key(*after)].insert(after->name.name);
}

std::vector<std::string> ReplicaSetTable::of_deployment(const kube::NamespacedName& name) const {
    const auto found = by_deployment_.find(name.text());
    if (found == by_deployment_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

std::string ReplicaSetTable::deployment_of(const kube::NamespacedName& set) const {
    const Record* record = informer_.find(set);
    return record == nullptr ? std::string() : record->deployment;
}

}  // namespace muster::workloads
