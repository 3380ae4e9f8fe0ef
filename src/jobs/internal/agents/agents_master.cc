#include "jobs/internal/agents/agents_master.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "jobs/internal/agents/agent_token.h"
#include "jobs/internal/agents/elastic_annotation.h"
#include "jobs/internal/agents/master_in_pod.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/text.h"
#include "kube/values/name_syntax.h"

namespace muster::jobs {
namespace {

/// Of a pod's spec, what says where it may run and how its images are pulled.
constexpr std::array<std::string_view, 2> kOfPlace{"tolerations", "imagePullSecrets"};

std::string pod_name(const Job& job) { return replica_name(job, {std::string(kAgentsMaster), 0}); }
bool has_long_name(const Job& job) { return pod_name(job).size() > kube::kMaxLabelName; }

/// The containers that may have agents, each with the path of its replica.
template <class F>
void for_each_agent(const Job& job, F f) {
    for (const ReplicaType& type : job.kind->written_types())
        if (const ReplicaSpec* spec = job.replica(type.name))
            if (const kube::Container* main = default_container(*job.kind, spec->template_.spec))
                f(job.replica_path(type.name), *main);
}

/// Where agents read their token from a file, which only their own pods have.
std::optional<std::string> path_of_token_file(const Job& job) {
    std::optional<std::string> path;
    for_each_agent(job, [&](const std::string& of, const kube::Container& container) {
        if (!path && has_token_file(container)) path = of;
    });
    return path;
}

bool would_have_one(const Job& job) { return job.platform.runs_masters() && gets_agents(job); }

/// Whether pods of the job start again after their program has failed.
bool starts_again(const Job& job) {
    return std::ranges::any_of(job.kind->written_types(), [&](const ReplicaType& type) {
        const ReplicaSpec* const spec = job.replica(type.name);
        if (spec == nullptr) return false;
        return spec->restart_policy == "OnFailure" || spec->restart_policy == "Always";
    });
}

MasterInPod master_of(const Job& job) {
    return {.type = std::string(kAgentsMaster),
            .objects = fmt::format("{}-{}", job.metadata.name, agents_master_type().lower()),
            .begins_again = starts_again(job)};
}

void place_like(const kube::PodTemplateSpec& other, kube::PodTemplateSpec& made) {
    made.metadata.annotations = other.metadata.annotations;
    made.spec.node_selector = other.spec.node_selector;
    made.spec.priority_class_name = other.spec.priority_class_name;
    for (const std::string_view key : kOfPlace)
        if (const json::value* value = other.spec.rest.if_contains(key))
            made.spec.rest[key] = *value;
}

}  // namespace

ReplicaType agents_master_type() {
    return {.name = std::string(kAgentsMaster),
            .only_replicas = 1,
            .port = kMasterPort,
            .own_program = true,
            .beside = true};
}

bool has_agents_master(const Job& job) {
    return would_have_one(job) && !has_long_name(job) && !path_of_token_file(job);
}

void add_agents_master(Job& job) {
    if (!has_agents_master(job)) return;
    ReplicaSpec spec = default_master(job, std::string(kAgentsMaster));
    // A pod of the master that has failed tells so, where no pod begins the job again.
    spec.restart_policy = starts_again(job) ? "OnFailure" : "ExitCode";
    kube::Container& container = spec.template_.spec.containers.front();
    if (job.platform.node_program.empty()) container.rest["securityContext"] = least_rights();
    bool is_first = true;
    for_each_agent(job, [&](const std::string&, const kube::Container& agent) {
        if (const auto token = own_token(agent); token && container.env.empty())
            container.env.push_back(*token);
    });
    for (const ReplicaType& type : job.kind->written_types())
        if (const ReplicaSpec* other = job.replica(type.name);
            other != nullptr && std::exchange(is_first, false))
            place_like(other->template_, spec.template_);
    job.replicas.insert_or_assign(std::string(kAgentsMaster), std::move(spec));
}

std::string agents_master_address(const Job& job) {
    return fmt::format("{}.{}:{}", pod_name(job), job.service_domain(), kMasterPort);
}

std::vector<OwnedObject> agents_master_objects(const Job& job) {
    if (!has_agents_master(job)) return {};
    return master_objects(job, master_of(job));
}

void put_agents_master(const Job& job, kube::Pod& pod) { put_master(job, master_of(job), pod); }

std::optional<Cause> lacks_agents_master(const Job& job) {
    constexpr std::string_view kInstead =
        "the master runs beside an agent, and a node that is lost with it takes the record of the "
        "job along";
    if (!would_have_one(job)) return std::nullopt;
    if (has_long_name(job))
        return doubtful(
            "metadata.name",
            fmt::format("the pod \"{}\" of the job's master would have {} characters of "
                        "at most {}, so {}. Shorten the name by {}",
                        pod_name(job), pod_name(job).size(), kube::kMaxLabelName, kInstead,
                        pod_name(job).size() - kube::kMaxLabelName));
    if (const auto path = path_of_token_file(job))
        return doubtful(*path + ".template",
                        fmt::format("agents read their token from a file, which a pod of the "
                                    "master would not have, so {}. Give the token as MUSTER_TOKEN",
                                    kInstead));
    return std::nullopt;
}

}  // namespace muster::jobs
