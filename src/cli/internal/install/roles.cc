#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <map>
#include <set>

#include "cli/internal/install/installation.h"
#include "cli/internal/install/permissions.h"
#include "jobs/scale_plan.h"

namespace muster::cli {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

json::object metadata(std::string_view name, std::string_view namespace_) {
    json::object object{{"name", name}};
    if (!namespace_.empty()) object["namespace"] = namespace_;
    object["labels"] = common_labels();
    return object;
}

/// A role and its binding to the operator's account; `namespace_` empty: cluster-wide.
void grant(std::vector<json::value>& objects, const Installation& installation,
           std::string_view name, std::string_view namespace_, json::array rules) {
    const std::string prefix = namespace_.empty() ? "Cluster" : "";
    const std::string api_version = fmt::format("{}/v1", kGroup);
    objects.push_back(json::object{{"apiVersion", api_version},
                                   {"kind", prefix + "Role"},
                                   {"metadata", metadata(name, namespace_)},
                                   {"rules", std::move(rules)}});
    objects.push_back(json::object{
        {"apiVersion", api_version},
        {"kind", prefix + "RoleBinding"},
        {"metadata", metadata(name, namespace_)},
        {"roleRef", {{"apiGroup", kGroup}, {"kind", prefix + "Role"}, {"name", name}}},
        {"subjects", json::array{json::object{{"kind", "ServiceAccount"},
                                              {"name", kOperatorName},
                                              {"namespace", installation.namespace_}}}}});
}

json::array joined(json::array first, const json::array& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

json::object rule(std::string_view group, json::array resources, json::array verbs) {
    return {{"apiGroups", json::array{group}},
            {"resources", std::move(resources)},
            {"verbs", std::move(verbs)}};
}

/// The rights of users on jobs, one rule for each group.
json::array rules_for_jobs(const std::set<std::string>& subresources, const json::array& verbs) {
    std::map<std::string, std::set<std::string>> by_group;
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        std::set<std::string>& resources = by_group[kind->resource.group];
        for (const std::string& subresource : subresources) {
            if (subresource == "/scale" && kind->scaled_type.empty()) continue;
            resources.insert(kind->resource.plural + subresource);
        }
    }
    for (const std::string& subresource : subresources)
        if (subresource != "/scale")
            by_group[jobs::kScalePlans.group].insert(jobs::kScalePlans.plural + subresource);
    json::array rules;
    for (const auto& [group, resources] : by_group)
        rules.push_back(rule(group, json::array(resources.begin(), resources.end()), verbs));
    return rules;
}

/// `aggregated_to`: of Kubeflow's roles and of those that every cluster has.
json::value user_role(std::string_view name, std::string_view aggregated_to, json::array rules) {
    json::object meta = metadata(name, "");
    json::object& labels = meta["labels"].get_object();
    const auto add_to = [&](std::string_view role) {
        labels[fmt::format("rbac.authorization.kubeflow.org/aggregate-to-{}", role)] = "true";
    };
    add_to(fmt::format("kubeflow-{}", aggregated_to));
    if (aggregated_to == "edit") add_to("kubeflow-training-admin");
    labels[fmt::format("{}/aggregate-to-{}", kGroup, aggregated_to)] = "true";
    return json::object{{"apiVersion", fmt::format("{}/v1", kGroup)},
                        {"kind", "ClusterRole"},
                        {"metadata", std::move(meta)},
                        {"rules", std::move(rules)}};
}

}  // namespace

Part operator_access(const Installation& installation) {
    const std::vector<Permission> permissions = operator_permissions(jobs::all_kinds());
    const json::array of_jobs = role_rules(permissions, Reach::kJobs);
    const json::array of_cluster = role_rules(permissions, Reach::kCluster);
    Part part{.name = "rbac", .objects = {}};
    part.objects.push_back(
        json::object{{"apiVersion", "v1"},
                     {"kind", "ServiceAccount"},
                     {"metadata", metadata(kOperatorName, installation.namespace_)}});
    if (installation.watched.empty()) {
        grant(part.objects, installation, kOperatorName, "", joined(of_jobs, of_cluster));
    } else {
        // Named after the namespace, so that it is not the role of another installation.
        grant(part.objects, installation, fmt::format("{}-{}", kOperatorName, installation.watched),
              "", of_cluster);
        grant(part.objects, installation, kOperatorName, installation.watched, of_jobs);
    }
    grant(part.objects, installation, fmt::format("{}-leader", kOperatorName),
          installation.namespace_, role_rules(permissions, Reach::kOwnNamespace));
    return part;
}

Part mpi_access(const Installation& installation) {
    Part part{.name = "rbac-mpi", .objects = {}};
    grant(part.objects, installation, fmt::format("{}-mpi", kOperatorName), installation.watched,
          role_rules(operator_permissions(jobs::all_kinds()), Reach::kJobs, Need::kMpi));
    return part;
}

Part token_access(const Installation& installation) {
    Part part{.name = "rbac-tokens", .objects = {}};
    grant(part.objects, installation, fmt::format("{}-tokens", kOperatorName), installation.watched,
          role_rules(operator_permissions(jobs::all_kinds()), Reach::kJobs, Need::kAgentTokens));
    return part;
}

Part user_roles() {
    Part part{.name = "user-roles", .objects = {}};
    json::object admin = metadata("kubeflow-training-admin", "");
    admin["labels"].get_object()["rbac.authorization.kubeflow.org/aggregate-to-kubeflow-admin"] =
        "true";
    // Without `rules`: the cluster fills them in, and applying this again must not undo that.
    part.objects.push_back(json::object{
        {"apiVersion", fmt::format("{}/v1", kGroup)},
        {"kind", "ClusterRole"},
        {"metadata", std::move(admin)},
        {"aggregationRule",
         {{"clusterRoleSelectors",
           json::array{json::object{
               {"matchLabels",
                {{"rbac.authorization.kubeflow.org/aggregate-to-kubeflow-training-admin",
                  "true"}}}}}}}}});
    const json::array change{"create", "delete", "deletecollection", "get",
                             "list",   "patch",  "update",           "watch"};
    json::array edit =
        joined(rules_for_jobs({"", "/scale"}, change), rules_for_jobs({"/status"}, {"get"}));
    edit.push_back(
        rule("", {"persistentvolumeclaims"}, {"create", "delete", "get", "list", "watch"}));
    edit.push_back(rule("", {"events"}, {"get", "list", "watch"}));
    part.objects.push_back(user_role("kubeflow-training-edit", "edit", std::move(edit)));
    json::array view = joined(rules_for_jobs({"", "/scale"}, {"get", "list", "watch"}),
                              rules_for_jobs({"/status"}, {"get"}));
    view.push_back(rule("", {"events"}, {"get", "list", "watch"}));
    part.objects.push_back(user_role("kubeflow-training-view", "view", std::move(view)));
    return part;
}

}  // namespace muster::cli
