#include "jobs/internal/agents/master_in_pod.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <boost/json/array.hpp>
#include <string_view>

#include "jobs/internal/program_in_pods.h"
#include "jobs/scale_plan.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kMountsToken = "automountServiceAccountToken";

/// What a container of the pod that starts again continues with.
constexpr std::string_view kRecordVolume = "muster-record";
constexpr std::string_view kRecordDirectory = "/var/lib/muster";

/// Belongs to the program that the container had.
constexpr std::array<std::string_view, 4> kOfOtherProgram{"livenessProbe", "readinessProbe",
                                                          "startupProbe", "lifecycle"};

kube::ResourceType rbac_type(std::string plural, std::string kind) {
    return {std::string(kRbac), "v1", std::move(plural), std::move(kind)};
}

// --- objects

/// The one that the template names, or ours.
std::string account_name(const Job& job, const MasterInPod& master) {
    const ReplicaSpec* spec = job.replica(master.type);
    const bool named = spec != nullptr && !spec->template_.spec.service_account_name.empty();
    return named ? spec->template_.spec.service_account_name : master.objects;
}

/// Only a pod that asks for it gets its token: the master's does.
OwnedObject account(const std::string& name) {
    return {.type = kube::types::kServiceAccounts,
            .name = name,
            .labels = {},
            .content = {{kMountsToken, false}},
            .kept = {std::string(kMountsToken)}};
}

json::value rule(std::string_view group, std::string_view resource, const std::string& name,
                 json::array verbs) {
    return {{"apiGroups", json::array{json::value(group)}},
            {"resources", json::array{json::value(resource)}},
            {"resourceNames", json::array{json::value(name)}},
            {"verbs", std::move(verbs)}};
}

/// The verbs that a compare-and-set of the record and of the plan needs, and an informer of the job.
OwnedObject role(const Job& job, const MasterInPod& master) {
    json::array rules{rule("", "configmaps", master.objects, {"get", "update"})};
    if (!master.node_types.empty())
        rules.push_back(rule(job.kind->resource.group, job.kind->resource.plural, job.metadata.name,
                             {"list", "watch"}));
    if (master.has_plan)
        rules.push_back(rule(kScalePlans.group, kScalePlans.plural,
                             own_plan_name(job.metadata.name), {"get", "update"}));
    return {.type = rbac_type("roles", "Role"),
            .name = master.objects,
            .labels = {},
            .content = {{"rules", std::move(rules)}},
            .kept = {"rules"}};
}

OwnedObject role_binding(const std::string& name, const std::string& account,
                         const std::string& ns) {
    return {.type = rbac_type("rolebindings", "RoleBinding"),
            .name = name,
            .labels = {},
            .content = {{"roleRef", {{"apiGroup", kRbac}, {"kind", "Role"}, {"name", name}}},
                        {"subjects",
                         json::array{json::object{
                             {"kind", "ServiceAccount"}, {"name", account}, {"namespace", ns}}}}},
            .kept = {"subjects"}};
}

OwnedObject record(const std::string& name) {
    return {
        .type = kube::types::kConfigMaps, .name = name, .labels = {}, .content = {}, .kept = {}};
}

// --- the pod

void use_record_object(const Job& job, const MasterInPod& master, kube::Pod& pod,
                       kube::Container& container) {
    std::vector<std::string>& words = container.command;
    words.insert(words.end(),
                 {"--namespace", job.metadata.namespace_, "--record-object", master.objects});
    if (!master.node_types.empty())
        words.insert(words.end(),
                     {"--job-object",
                      fmt::format("{}.{}.{}", job.kind->resource.plural, job.kind->resource.version,
                                  job.kind->resource.group),
                      "--node-types", fmt::format("{}", fmt::join(master.node_types, ","))});
    if (master.has_plan)
        words.insert(words.end(), {"--plan-object", own_plan_name(job.metadata.name)});
    pod.spec.service_account_name = account_name(job, master);
    pod.spec.rest[kMountsToken] = true;
}

void use_record_file(kube::Pod& pod, kube::Container& container) {
    container.command.emplace_back("--records");
    container.command.push_back(fmt::format("{}/record", kRecordDirectory));
    kube::Volume volume;
    volume.name = kRecordVolume;
    volume.empty_dir.emplace();
    pod.spec.volumes.push_back(std::move(volume));
    container.volume_mounts.push_back({.name = std::string(kRecordVolume),
                                       .mount_path = std::string(kRecordDirectory),
                                       .sub_path = {},
                                       .read_only = {},
                                       .rest = {}});
}

}  // namespace

std::vector<OwnedObject> master_objects(const Job& job, const MasterInPod& master) {
    if (!master.has_record_object) return {};
    const std::string used = account_name(job, master);
    std::vector<OwnedObject> objects;
    if (used == master.objects) objects.push_back(account(used));
    objects.push_back(role(job, master));
    objects.push_back(role_binding(master.objects, used, job.metadata.namespace_));
    objects.push_back(record(master.objects));
    return objects;
}

std::vector<kube::ResourceType> master_object_types() {
    return {kube::types::kServiceAccounts, rbac_type("roles", "Role"),
            rbac_type("rolebindings", "RoleBinding"), kube::types::kConfigMaps};
}

ReplicaSpec default_master(const Job& job, const std::string& type) {
    kube::Container container;
    container.name = job.kind->container_name;
    // One machine gives what the manifest requests, all of it if need be.
    if (job.platform.cluster) {
        container.resources.requests = {{"cpu", "20m"}, {"memory", "32Mi"}};
        container.resources.limits = {{"memory", "256Mi"}};
    }
    container.ports.push_back(
        {.name = job.kind->port_name, .container_port = kMasterPort, .protocol = {}, .rest = {}});
    ReplicaSpec spec;
    spec.replicas = 1;
    spec.restart_policy = job.kind->default_policy(type);
    spec.template_.spec.containers.push_back(std::move(container));
    return spec;
}

void put_master(const Job& job, const MasterInPod& master, kube::Pod& pod) {
    const kube::Container* const found = default_container(*job.kind, pod.spec);
    if (found == nullptr) return;
    kube::Container& container =
        pod.spec.containers[static_cast<std::size_t>(found - pod.spec.containers.data())];
    const Platform& platform = job.platform;
    std::string program = "muster";
    if (!platform.node_program.empty()) {
        program = program_in_pods(platform);
        add_program(platform, pod, container);
    } else if (!platform.program_image.empty()) {
        program = kProgramInImage;
    }
    container.image = platform.program_image.empty() ? "muster" : platform.program_image;
    container.command = {program, "master", "--job", job.metadata.name};
    if (master.has_record_object)
        use_record_object(job, master, pod, container);
    else
        use_record_file(pod, container);
    container.command.insert(container.command.end(), {"--port", std::to_string(kMasterPort)});
    // The record may have gone with the pod before this one, or someone has deleted it.
    if (pod.metadata.annotations.contains(std::string(annotations::kRestarts)))
        container.command.emplace_back("--successor");
    if (master.begins_again) container.command.emplace_back("--begin-again");
    container.args.clear();
    container.working_dir.clear();
    for (const std::string_view key : kOfOtherProgram) container.rest.erase(key);
}

}  // namespace muster::jobs
