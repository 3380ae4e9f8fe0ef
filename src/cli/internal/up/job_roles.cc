#include "cli/internal/up/job_roles.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <map>

#include "jobs/kind.h"

namespace muster::cli {

namespace {

/// One rule a group. The operator writes the status, others only read it.
json::array rules_for(const json::array& verbs, bool with_status) {
    std::map<std::string, json::array> resources;
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        json::array& of_group = resources[kind->resource.group];
        of_group.emplace_back(kind->resource.plural);
        of_group.emplace_back(fmt::format("{}/scale", kind->resource.plural));
        if (with_status) of_group.emplace_back(fmt::format("{}/status", kind->resource.plural));
    }
    json::array rules;
    for (auto& [group, names] : resources)
        rules.push_back(json::object{
            {"verbs", verbs}, {"apiGroups", json::array{group}}, {"resources", std::move(names)}});
    return rules;
}

json::value role(std::string_view name, std::string_view part_of, json::array rules) {
    const std::string label = fmt::format("rbac.authorization.k8s.io/aggregate-to-{}", part_of);
    return {{"apiVersion", kClusterRoles.api_version()},
            {"kind", kClusterRoles.kind},
            {"metadata", {{"name", name}, {"labels", {{label, "true"}}}}},
            {"rules", std::move(rules)}};
}

}  // namespace

const kube::ResourceType kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles",
                                       "ClusterRole", false};

std::vector<json::value> job_roles() {
    return {role("muster:view-jobs", "view", rules_for({"get", "list", "watch"}, true)),
            role("muster:edit-jobs", "edit",
                 rules_for({"create", "delete", "deletecollection", "patch", "update"}, false))};
}

bool is_kept_up_to_date(const json::value& role) {
    boost::system::error_code absent;
    const json::value* says = role.find_pointer(
        "/metadata/annotations/rbac.authorization.kubernetes.io~1autoupdate", absent);
    return says == nullptr || *says != json::value("false");
}

}  // namespace muster::cli
