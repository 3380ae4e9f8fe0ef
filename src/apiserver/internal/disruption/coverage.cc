#include "apiserver/internal/disruption/coverage.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

PodController controller_of(const json::object& pod) {
    const json::array* references = array_at(metadata_of(pod), "ownerReferences");
    if (references == nullptr) return {};
    for (const json::value& entry : *references) {
        const json::object* owner = entry.if_object();
        if (owner == nullptr || !bool_at(*owner, "controller")) continue;
        return {std::string(string_at(*owner, "apiVersion")),
                std::string(string_at(*owner, "kind")), std::string(string_at(*owner, "name")),
                std::string(string_at(*owner, "uid"))};
    }
    return {};
}

}  // namespace

bool is_ready_pod(const json::object& pod) {
    const json::object* status = object_at(pod, "status");
    const json::array* conditions = status == nullptr ? nullptr : array_at(*status, "conditions");
    if (conditions == nullptr) return false;
    for (const json::value& entry : *conditions)
        if (const json::object* condition = entry.if_object())
            if (string_at(*condition, "type") == "Ready")
                return string_at(*condition, "status") == "True";
    return false;
}

void Coverage::count(const Pod& pod) {
    healthy_ += pod.healthy ? 1 : 0;
    if (pod.controller.uid.empty()) return;
    Controlled& of = by_uid_[pod.controller.uid];
    of.controller = pod.controller;
    ++of.pods;
}

void Coverage::discount(const Pod& pod) {
    healthy_ -= pod.healthy ? 1 : 0;
    const auto of = by_uid_.find(pod.controller.uid);
    if (of != by_uid_.end() && --of->second.pods == 0) by_uid_.erase(of);
}

bool Coverage::put(const json::object& pod) {
    const bool deleting = is_deleting(pod);
    Pod seen{!deleting && is_ready_pod(pod), deleting, controller_of(pod)};
    const auto [entry, fresh] = pods_.try_emplace(std::string(name_of(pod)));
    if (!fresh) {
        if (entry->second == seen) return false;
        discount(entry->second);
    }
    entry->second = std::move(seen);
    count(entry->second);
    return true;
}

bool Coverage::remove(const std::string& name) {
    const auto entry = pods_.find(name);
    if (entry == pods_.end()) return false;
    discount(entry->second);
    pods_.erase(entry);
    return true;
}

bool Coverage::is_healthy(const std::string& name) const {
    const auto entry = pods_.find(name);
    return entry != pods_.end() && entry->second.healthy;
}

bool Coverage::stays(const std::string& name) const {
    const auto entry = pods_.find(name);
    return entry != pods_.end() && !entry->second.deleting;
}

std::string_view Coverage::pod_of(std::string_view uid) const {
    for (const auto& [name, pod] : pods_)
        if (pod.controller.uid == uid) return name;
    return {};
}

}  // namespace muster::apiserver
