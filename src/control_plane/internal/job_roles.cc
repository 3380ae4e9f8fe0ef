#include "control_plane/internal/job_roles.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <map>
#include <set>

#include "jobs/scale_plan.h"

namespace muster::control_plane {

namespace {

/// One rule for each group. The operator writes the status, others only read it.
json::array rules_for(std::span<const jobs::JobKind* const> kinds, const json::array& verbs,
                      bool with_status) {
    // Versions of a resource are kinds of their own.
    std::map<std::string, std::set<std::string>> resources;
    for (const jobs::JobKind* kind : kinds) {
        std::set<std::string>& of_group = resources[kind->resource.group];
        of_group.insert(kind->resource.plural);
        if (!kind->scaled_type.empty())
            of_group.insert(fmt::format("{}/scale", kind->resource.plural));
        if (with_status) of_group.insert(fmt::format("{}/status", kind->resource.plural));
    }
    // Changes of ElasticJobs, where those are among the kinds.
    if (const auto with_plans = resources.find(jobs::kScalePlans.group);
        with_plans != resources.end()) {
        with_plans->second.insert(jobs::kScalePlans.plural);
        if (with_status)
            with_plans->second.insert(fmt::format("{}/status", jobs::kScalePlans.plural));
    }
    json::array rules;
    for (const auto& [group, names] : resources)
        rules.push_back(json::object{{"verbs", verbs},
                                     {"apiGroups", json::array{group}},
                                     {"resources", json::array(names.begin(), names.end())}});
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

std::vector<json::value> job_roles(std::span<const jobs::JobKind* const> kinds) {
    return {
        role("muster:view-jobs", "view", rules_for(kinds, {"get", "list", "watch"}, true)),
        role("muster:edit-jobs", "edit",
             rules_for(kinds, {"create", "delete", "deletecollection", "patch", "update"}, false))};
}

bool is_kept_up_to_date(const json::value& role) {
    boost::system::error_code absent;
    const json::value* says = role.find_pointer(
        "/metadata/annotations/rbac.authorization.kubernetes.io~1autoupdate", absent);
    return says == nullptr || *says != json::value("false");
}

}  // namespace muster::control_plane
