#include "jobs/internal/elasticjob/elastic_master.h"

#include "jobs/internal/elasticjob/elasticjob.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

kube::ResourceType rbac_type(std::string plural, std::string kind) {
    return {std::string(kRbac), "v1", std::move(plural), std::move(kind)};
}

/// The verbs that a compare-and-set and a watch need.
json::object rule(std::string_view group, std::string_view resource, const std::string& name) {
    return {{"apiGroups", json::array{json::value(group)}},
            {"resources", json::array{json::value(resource)}},
            {"resourceNames", json::array{json::value(name)}},
            {"verbs", json::array{"get", "watch", "update"}}};
}

OwnedObject account(const std::string& name) {
    return {.type = kube::types::kServiceAccounts,
            .name = name,
            .labels = {},
            .content = {},
            .kept = {}};
}

OwnedObject role(const std::string& name, const std::string& plan) {
    return {.type = rbac_type("roles", "Role"),
            .name = name,
            .labels = {},
            .content = {{"rules", json::array{rule("", "configmaps", name),
                                              rule("elastic.iml.github.io", "scaleplans", plan)}}},
            .kept = {"rules"}};
}

OwnedObject role_binding(const std::string& name, const std::string& ns) {
    return {.type = rbac_type("rolebindings", "RoleBinding"),
            .name = name,
            .labels = {},
            .content = {{"roleRef", {{"apiGroup", kRbac}, {"kind", "Role"}, {"name", name}}},
                        {"subjects",
                         json::array{json::object{
                             {"kind", "ServiceAccount"}, {"name", name}, {"namespace", ns}}}}},
            .kept = {"subjects"}};
}

OwnedObject record(const std::string& name) {
    return {
        .type = kube::types::kConfigMaps, .name = name, .labels = {}, .content = {}, .kept = {}};
}

}  // namespace

std::string elastic_master_plan(const Job& job) { return job.metadata.name + "-plan"; }

std::vector<OwnedObject> elastic_master_objects(const Job& job) {
    const std::string name = elastic_master_service(job.metadata.name);
    return {account(name), role(name, elastic_master_plan(job)),
            role_binding(name, job.metadata.namespace_), record(name)};
}

std::vector<kube::ResourceType> elastic_master_types() {
    return {kube::types::kServiceAccounts, rbac_type("roles", "Role"),
            rbac_type("rolebindings", "RoleBinding"), kube::types::kConfigMaps};
}

std::vector<std::string> elastic_master_words(const Job& job, int port) {
    return {"master",
            "--job",
            job.metadata.name,
            "--namespace",
            job.metadata.namespace_,
            "--record-object",
            elastic_master_service(job.metadata.name),
            "--port",
            std::to_string(port)};
}

}  // namespace muster::jobs
