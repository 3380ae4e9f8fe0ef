#include "apiserver/internal/api_services/local_api_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/aggregation/extension_server.h"
#include "apiserver/aggregation/local_priority.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

std::string_view management_of(const json::object* api_service) {
    if (api_service == nullptr) return {};
    return string_at(child(metadata_of(*api_service), "labels"), kAutoManaged);
}

}  // namespace

std::string api_service_name(std::string_view group, std::string_view version) {
    return fmt::format("{}.{}", version, group);
}

std::string api_version_of(std::string_view name) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string_view version = name.substr(0, dot);
    const std::string_view group = name.substr(std::min(dot + 1, name.size()));
    return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

json::object local_api_service(const ResourceDef& def) {
    const DiscoveryPriority priority = local_priority(def);
    json::object metadata{{"name", api_service_name(def.type.group, def.type.version)}};
    // metrics-server brings an APIService of its own; without the label it stays as it is.
    if (!def.is_metrics)
        metadata["labels"] = json::object{{kAutoManaged, def.custom ? kAlways : kOnStart}};
    json::object spec{{"version", def.type.version},
                      {"groupPriorityMinimum", priority.group},
                      {"versionPriority", priority.version}};
    if (!def.type.group.empty()) spec["group"] = def.type.group;
    return {{"apiVersion", kApiServices.api_version()},
            {"kind", kApiServices.kind},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

Registration decide_registration(const RegistrationState& state) {
    const bool once = state.wanted != nullptr && management_of(state.wanted) != kAlways;
    if (once && state.synced) return Registration::kLeave;
    if (state.current == nullptr)
        return state.wanted == nullptr ? Registration::kLeave : Registration::kCreate;
    const std::string_view now = management_of(state.current);
    if (now != kAlways && now != kOnStart) return Registration::kLeave;
    if (now == kOnStart && (!state.was_at_start || state.synced)) return Registration::kLeave;
    if (state.wanted == nullptr) return Registration::kDelete;
    return kube::equal(child(*state.current, "spec"), child(*state.wanted, "spec"))
               ? Registration::kLeave
               : Registration::kUpdate;
}

}  // namespace muster::apiserver
