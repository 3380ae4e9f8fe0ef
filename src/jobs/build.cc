#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "kube/objects/pod_contract.h"

namespace muster::jobs {
namespace {

const ReplicaSpec* spec_of_replica(const Job& job, const ReplicaId& replica) {
    return job.replica(replica.type);
}

Error unknown_replica(const Job& job, const ReplicaId& replica) {
    return Error(Code::kInternal,
                 fmt::format("{} {} has no replica type {}", job.kind->resource.kind,
                             job.metadata.name, replica.type));
}

bool is_numbered(const JobKind& kind, const ReplicaId& replica) {
    const ReplicaType* type = kind.replica_type(replica.type);
    return type == nullptr || type->numbered;
}

kube::ObjectMeta dependent_metadata(const Job& job, const ReplicaId& replica) {
    kube::ObjectMeta metadata;
    metadata.name = replica_name(job, replica);
    metadata.namespace_ = job.metadata.namespace_;
    metadata.owner_references.push_back(owner_reference(job));
    return metadata;
}

bool gets_environment(const JobKind& kind, const kube::PodSpec& spec,
                      const kube::Container& container) {
    return kind.env_target == EnvTarget::kAllContainers ||
           &container == default_container(kind, spec);
}

void add_environment(kube::Container& container, const std::vector<Variable>& variables) {
    for (const Variable& variable : variables) container.env.push_back(variable.env);
}

using Origins = std::vector<VariableOrigin>;
/// Of variables of which the first `own` are the template's, and then come those of the kind.
Origins origins_of(const kube::Container& container, std::size_t own,
                   const std::vector<Variable>& variables) {
    using Source = VariableOrigin::Source;
    Origins origins;
    for (std::size_t i = 0; i < container.env.size(); ++i) {
        if (i < own)
            origins.push_back({Source::kTemplate, {}});
        else if (i - own < variables.size())
            origins.push_back({Source::kRule, variables[i - own].rule});
        else
            origins.push_back({Source::kPod, {}});
    }
    return origins;
}

bool same_port(const kube::ServicePort& a, const kube::ContainerPort& b) {
    auto protocol = [](const std::string& text) { return text.empty() ? "TCP" : text; };
    return a.port == b.container_port && protocol(a.protocol) == protocol(b.protocol);
}

/// The ports that a service allows: each number once for each protocol, and if there are several,
/// all with different names.
std::vector<kube::ServicePort> service_ports(const std::vector<kube::ContainerPort>& ports) {
    std::vector<kube::ServicePort> result;
    for (const kube::ContainerPort& port : ports) {
        auto known = std::ranges::find_if(
            result, [&](const kube::ServicePort& other) { return same_port(other, port); });
        if (known == result.end())
            result.push_back({.name = port.name,
                              .port = port.container_port,
                              .protocol = port.protocol,
                              .rest = {}});
        else if (known->name.empty())
            known->name = port.name;
    }
    if (result.size() < 2) return result;
    std::set<std::string> names;
    for (const kube::ServicePort& port : result) names.insert(port.name);
    for (kube::ServicePort& port : result) {
        if (!port.name.empty()) continue;
        port.name = fmt::format("port-{}", port.port);
        while (!names.insert(port.name).second) port.name += "-x";
    }
    return result;
}

}  // namespace

std::string replica_name(const JobKind& kind, std::string_view job_name, const ReplicaId& replica) {
    if (kind.own_replica_name) {
        std::string name = kind.own_replica_name(job_name, replica);
        if (!name.empty()) return name;
    }
    std::string name = fmt::format("{}-{}", job_name, lower_case(replica.type));
    return is_numbered(kind, replica) ? fmt::format("{}-{}", name, replica.index) : name;
}

std::string replica_name(const Job& job, const ReplicaId& replica) {
    return replica_name(*job.kind, job.metadata.name, replica);
}

std::map<std::string, std::string> job_labels(const JobKind& kind, std::string_view job_name) {
    return {{std::string(labels::kOperatorName), kind.controller_name()},
            {std::string(labels::kJobName), std::string(job_name)}};
}

std::map<std::string, std::string> replica_labels(const Job& job, const ReplicaId& replica,
                                                  bool with_role) {
    std::map<std::string, std::string> all = job_labels(*job.kind, job.metadata.name);
    all[std::string(labels::kReplicaType)] = lower_case(replica.type);
    if (is_numbered(*job.kind, replica))
        all[std::string(labels::kReplicaIndex)] = std::to_string(replica.index);
    if (with_role && job.kind->has_master_role && job.kind->has_master_role(job, replica))
        all[std::string(labels::kJobRole)] = "master";
    return all;
}

kube::OwnerReference owner_reference(const Job& job) {
    return {.api_version = job.kind->resource.api_version(),
            .kind = job.kind->resource.kind,
            .name = job.metadata.name,
            .uid = job.metadata.uid,
            .controller = true,
            .block_owner_deletion = true};
}

kube::ObjectReference object_reference(const Job& job) {
    return {.api_version = job.kind->resource.api_version(),
            .kind = job.kind->resource.kind,
            .namespace_ = job.metadata.namespace_,
            .name = job.metadata.name,
            .uid = job.metadata.uid,
            .resource_version = job.metadata.resource_version,
            .field_path = {}};
}

const kube::Container* default_container(const JobKind& kind, const kube::PodSpec& spec) {
    auto named = std::ranges::find(spec.containers, kind.container_name, &kube::Container::name);
    if (named != spec.containers.end()) return &*named;
    return spec.containers.empty() ? nullptr : &spec.containers.front();
}

Result<kube::Pod> build_pod(const Job& job, const ReplicaId& replica,
                            const RestartHistory& restart_history, const kube::ResourceList& own) {
    const ReplicaSpec* spec = spec_of_replica(job, replica);
    if (spec == nullptr) return unknown_replica(job, replica);

    kube::Pod pod;
    pod.metadata = dependent_metadata(job, replica);
    pod.metadata.labels = replica_labels(job, replica, true);
    pod.metadata.labels.insert(spec->template_.metadata.labels.begin(),
                               spec->template_.metadata.labels.end());
    pod.metadata.annotations = spec->template_.metadata.annotations;
    pod.metadata.finalizers = spec->template_.metadata.finalizers;
    pod.spec = spec->template_.spec;
    const kube::Container* const main = default_container(*job.kind, pod.spec);
    for (kube::Container& container : pod.spec.containers)
        if (&container == main) set_amounts(container, own);
    if (restart_history.restarts > 0)
        pod.metadata.annotations[std::string(annotations::kRestarts)] =
            std::to_string(restart_history.restarts);
    if (restart_history.generation > 0)
        pod.metadata.annotations[std::string(kube::kGenerationAnnotation)] =
            std::to_string(restart_history.generation);
    if (restart_history.in_a_row > 0)
        pod.metadata.annotations[std::string(annotations::kInARow)] =
            std::to_string(restart_history.in_a_row);
    if (replica.kept_rank)
        pod.metadata.annotations[std::string(annotations::kRank)] =
            std::to_string(*replica.kept_rank);
    // With ExitCode the operator looks at the code and decides; the operator also handles a group
    // restart, which a container restarted in place would escape.
    const bool ours = job.kind->restarts_as_pods || spec->restart_policy == "ExitCode" ||
                      job.restarts_all(*job.kind->replica_type(replica.type));
    pod.spec.restart_policy = ours ? "Never" : spec->restart_policy;
    if (job.kind->environment) {
        TRY(const std::vector<Variable> variables, job.kind->environment(job, replica));
        for (kube::Container& container : pod.spec.containers)
            if (gets_environment(*job.kind, pod.spec, container))
                add_environment(container, variables);
        if (job.init_containers_get_environment(*spec))
            for (kube::Container& container : pod.spec.init_containers)
                add_environment(container, variables);
    }
    if (job.kind->finish_pod) job.kind->finish_pod(job, replica, pod);
    return pod;
}

Result<std::vector<std::vector<VariableOrigin>>> variable_origins(const Job& job,
                                                                  const ReplicaId& replica,
                                                                  const kube::Pod& pod) {
    const ReplicaSpec* spec = spec_of_replica(job, replica);
    if (spec == nullptr) return unknown_replica(job, replica);
    std::vector<Variable> variables;
    if (job.kind->environment) {
        TRY(variables, job.kind->environment(job, replica));
    }
    const kube::PodSpec& written = spec->template_.spec;
    std::vector<Origins> all;
    const auto add = [&](const kube::Container& container,
                         const std::vector<kube::Container>& templates, auto gets) {
        const auto of = std::ranges::find(templates, container.name, &kube::Container::name);
        const std::size_t own = of == templates.end() ? 0 : of->env.size();
        const bool ruled = of != templates.end() && gets(*of);
        all.push_back(origins_of(container, own, ruled ? variables : std::vector<Variable>()));
    };
    for (const kube::Container& container : pod.spec.containers)
        add(container, written.containers,
            [&](const kube::Container& of) { return gets_environment(*job.kind, written, of); });
    for (const kube::Container& container : pod.spec.init_containers)
        add(container, written.init_containers,
            [&](const kube::Container&) { return job.init_containers_get_environment(*spec); });
    return all;
}

Result<kube::Service> build_service(const Job& job, const ReplicaId& replica,
                                    std::int32_t in_a_row) {
    const ReplicaSpec* spec = spec_of_replica(job, replica);
    if (spec == nullptr) return unknown_replica(job, replica);
    const kube::Container* container = default_container(*job.kind, spec->template_.spec);
    if (container == nullptr)
        return Error(Code::kInvalid,
                     fmt::format("{} {}: the {} template has no containers, so its service has no "
                                 "ports",
                                 job.kind->resource.kind, job.metadata.name, replica.type));

    kube::Service service;
    service.metadata = dependent_metadata(job, replica);
    service.metadata.labels = replica_labels(job, replica, false);
    if (in_a_row > 0)
        service.metadata.annotations[std::string(annotations::kInARow)] = std::to_string(in_a_row);
    service.spec.cluster_ip = "None";
    service.spec.selector = service.metadata.labels;
    // Replicas look each other up while they start, before any of them is ready: otherwise workers
    // would never find a master that waits for them.
    service.spec.publish_not_ready_addresses = true;
    service.spec.ports = service_ports(container->ports);
    return service;
}

}  // namespace muster::jobs
