#include "cli/internal/install/permissions.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <map>
#include <set>

#include "cli/internal/install/installation.h"
#include "jobs/scale_plan.h"

namespace muster::cli {

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

json::array array_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

/// For each group of job kinds.
void add_jobs(std::span<const jobs::JobKind* const> kinds, std::vector<Permission>& all) {
    std::map<std::string, std::set<std::string>> by_group;
    for (const jobs::JobKind* kind : kinds)
        by_group[kind->resource.group].insert(kind->resource.plural);
    for (const auto& [group, plurals] : by_group) {
        const std::vector<std::string> jobs(plurals.begin(), plurals.end());
        const auto below = [&](std::string_view subresource) {
            std::vector<std::string> named;
            for (const std::string& plural : jobs)
                named.push_back(fmt::format("{}/{}", plural, subresource));
            return named;
        };
        all.push_back({.group = group,
                       .resources = jobs,
                       .verbs = {"get", "list", "watch", "delete"},
                       .why = "to see jobs, and to delete them after ttlSecondsAfterFinished"});
        all.push_back({.group = group,
                       .resources = below("status"),
                       .verbs = {"update"},
                       .why = "to write the status of a job"});
        all.push_back({.group = group,
                       .resources = below("finalizers"),
                       .verbs = {"update"},
                       .why = "to own what is made for a job where the server checks that "
                              "(OwnerReferencesPermissionEnforcement)"});
    }
}

}  // namespace

std::vector<Permission> operator_permissions(std::span<const jobs::JobKind* const> kinds) {
    std::vector<Permission> all;
    add_jobs(kinds, all);
    const std::vector<Permission> others = {
        {.resources = {"pods"},
         .verbs = {"get", "list", "watch", "create", "delete", "patch"},
         .why = "the replicas; patched when one is adopted or released"},
        {.resources = {"services"},
         .verbs = {"get", "list", "watch", "create", "update", "delete", "patch"},
         .why = "the names of replicas; updated if someone changed that of an MPIJob, or of the "
                "master "
                "of an ElasticJob"},
        {.group = jobs::kScalePlans.group,
         .resources = {jobs::kScalePlans.plural},
         .verbs = {"get", "list", "watch", "create", "update", "delete"},
         .why = "changes of ElasticJobs; of those that have ended the last ones stay. Made for "
                "the master of each job, which alone updates it, with rights of which the "
                "operator can grant only its own"},
        {.group = jobs::kScalePlans.group,
         .resources = {jobs::kScalePlans.plural + "/status"},
         .verbs = {"update"},
         .why = "to write what has become of a ScalePlan"},
        {.resources = {"configmaps"},
         .verbs = {"get", "list", "watch", "create", "update"},
         .why = "where masters of elastic jobs keep their records, which these alone write, with "
                "rights of which the operator can grant only its own; and hostfiles of MPIJobs"},
        {.resources = {"serviceaccounts"},
         .verbs = {"get", "list", "watch", "create", "update"},
         .why =
             "of the masters of elastic jobs, and of MPIJob launchers that call kubectl; updated "
             "where they lack our labels"},
        {.group = std::string(kRbac),
         .resources = {"roles", "rolebindings"},
         .verbs = {"get", "list", "watch", "create", "update"},
         .why = "what these accounts may do: write the record of their own job, or run commands in "
                "its pods"},
        {.resources = {"secrets"},
         .verbs = {"get", "list", "watch", "create", "update"},
         .need = Need::kMpi,
         .why = "keys and tokens of MPIJobs; no role can be limited to the label that they carry"},
        {.resources = {"pods/exec"},
         .verbs = {"create", "get"},
         .need = Need::kMpi,
         .why = "not used by the operator itself: a role that it makes can grant only what it has"},
        {.group = "batch",
         .resources = {"jobs"},
         .verbs = {"get", "delete"},
         .need = Need::kMpi,
         .why = "launchers that an mpi-operator made before this operator came"},
        {.resources = {"secrets"},
         .verbs = {"get", "list", "watch", "create"},
         .need = Need::kAgentTokens,
         .why = "tokens of the agents of elastic jobs; made once and never changed"},
        {.resources = {"events"},
         .verbs = {"create", "patch"},
         .why = "to report what happened; patched to count repetitions"},
        {.group = "scheduling.volcano.sh",
         .resources = {"podgroups"},
         .verbs = {"get", "list", "watch", "create", "update", "delete"},
         .why = "gangs of Volcano"},
        {.group = "scheduling.x-k8s.io",
         .resources = {"podgroups"},
         .verbs = {"get", "list", "watch", "create", "update", "delete"},
         .why = "gangs of the scheduler-plugins"},
        {.group = "autoscaling",
         .resources = {"horizontalpodautoscalers"},
         .verbs = {"get", "list", "watch", "create", "update", "delete"},
         .why = "for elasticPolicy.metrics"},
        {.reach = Reach::kCluster,
         .group = "scheduling.k8s.io",
         .resources = {"priorityclasses"},
         .verbs = {"list", "watch"},
         .why = "which replicas of a gang come first"},
        {.reach = Reach::kOwnNamespace,
         .group = "coordination.k8s.io",
         .resources = {"leases"},
         .verbs = {"get", "list", "watch", "patch"},
         .names = {std::string(kLeaseName)},
         .why = "who leads"},
        {.reach = Reach::kOwnNamespace,
         .group = "coordination.k8s.io",
         .resources = {"leases"},
         .verbs = {"create"},
         .why = "the first time; a create has no name that a role could be limited to"},
    };
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

json::array role_rules(std::span<const Permission> permissions, Reach reach, Need need) {
    json::array rules;
    for (const Permission& permission : permissions) {
        if (permission.reach != reach || permission.need != need) continue;
        json::object rule{{"apiGroups", json::array{permission.group}},
                          {"resources", array_of(permission.resources)},
                          {"verbs", array_of(permission.verbs)}};
        if (!permission.names.empty()) rule["resourceNames"] = array_of(permission.names);
        rules.push_back(std::move(rule));
    }
    return rules;
}

}  // namespace muster::cli
