#include "operator/internal/cache/job_facts.h"

#include "jobs/scale_plan.h"
#include "operator/internal/integrations/integrations.h"

namespace muster::operators {
namespace {

RestartPolicy restart_policy(const jobs::JobKind& kind, std::string_view policy) {
    if (policy == "Always") return RestartPolicy::kAlways;
    if (policy == "OnFailure") return RestartPolicy::kOnFailure;
    if (policy == "ExitCode") return RestartPolicy::kExitCode;
    return kind.replaces_failed_pods ? RestartPolicy::kOnFailure : RestartPolicy::kNever;
}

/// An unknown word behaves like All (training-operator pkg/controller.v1/common/job.go).
CleanPolicy clean_policy(std::string_view policy) {
    if (policy.empty() || policy == "None") return CleanPolicy::kNone;
    return policy == "Running" ? CleanPolicy::kRunning : CleanPolicy::kAll;
}

std::optional<std::uint8_t> starts_after(const jobs::Job& job, const std::string& type) {
    if (!job.kind->starts_after) return std::nullopt;
    const std::string first = job.kind->starts_after(job, type);
    for (std::size_t at = 0; at < job.kind->replica_types.size(); ++at)
        if (job.kind->replica_types[at].name == first) return static_cast<std::uint8_t>(at);
    return std::nullopt;
}

std::optional<std::int32_t> restart_limit(const jobs::Job& job, const std::string& type) {
    return job.kind->restart_limit ? job.kind->restart_limit(job, type) : std::nullopt;
}

std::shared_ptr<const ResourceFacts> resource_facts(const jobs::Job& job) {
    if (!job.kind->scale_plans) return nullptr;
    auto facts = std::make_shared<ResourceFacts>();
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        const kube::Container* main =
            spec == nullptr ? nullptr : jobs::default_container(*job.kind, spec->template_.spec);
        facts->written.push_back(main == nullptr ? kube::ResourceList()
                                                 : jobs::ownable_amounts(*main));
    }
    if (job.kind->memory_policy) facts->memory = job.kind->memory_policy(job);
    return facts;
}

}  // namespace

JobFacts facts_of(const jobs::Job& job) {
    JobFacts facts;
    facts.kind = job.kind;
    for (std::size_t at = 0; at < job.kind->replica_types.size(); ++at) {
        const jobs::ReplicaType& type = job.kind->replica_types[at];
        if (const jobs::ReplicaSpec* spec = job.replica(type.name))
            facts.types.push_back({.type = static_cast<std::uint8_t>(at),
                                   .policy = restart_policy(*job.kind, spec->restart_policy),
                                   .wanted = spec->replicas.value_or(0),
                                   .after = starts_after(job, type.name),
                                   .restarts_all = job.restarts_all(type),
                                   .own_program = jobs::runs_own_program(job, type),
                                   .services = jobs::has_services(job, type.name),
                                   .most_in_a_row = restart_limit(job, type.name)});
    }
    facts.success_policy = job.kind->success_policy(job);
    facts.clean = clean_policy(job.run_policy.clean_pod_policy);
    facts.suspend = job.run_policy.suspend.value_or(false);
    facts.backoff_limit = job.run_policy.backoff_limit;
    facts.ttl_seconds = job.run_policy.ttl_seconds_after_finished;
    facts.deadline_seconds = job.run_policy.active_deadline_seconds;
    facts.owns_objects = jobs::has_owned_objects(job);
    facts.has_own_plan = job.kind->has_own_plan && job.kind->has_own_plan(job);
    facts.integrations = integration_needs(job);
    facts.resources = resource_facts(job);
    if (job.kind->pending_policy)
        facts.pending = std::make_shared<const PendingRules>(PendingRules{
            .policy = job.kind->pending_policy(job),
            .annotations = pending_annotations(*job.kind, [&](const std::string& name) {
                const auto found = job.metadata.annotations.find(name);
                return found == job.metadata.annotations.end() ? std::string() : found->second;
            })});
    return facts;
}

kube::ResourceList own_amounts(const JobFacts& facts, std::uint8_t type, const Members& members,
                               std::int32_t rank) {
    const auto own = members.own_resources().find(rank);
    if (!facts.resources || own == members.own_resources().end()) return {};
    return jobs::in_effect(own->second, facts.resources->written[type]);
}

Asked asked_of(const JobFacts& facts, const jobs::JobStatus& status) {
    if (!status.plan || status.plan->replicas.empty()) return {};
    std::map<std::string, std::int32_t> written;
    for (const TypeFacts& type : facts.types)
        if (type.written) written.emplace(facts.name_of(type.type), *type.written);
    return jobs::in_effect(*status.plan, written);
}

JobMembersPtr members_of(const JobFacts& facts, const jobs::JobStatus& status) {
    if (!facts.kind->rising_ids) return nullptr;
    if (status.members.empty() && !status.conditions.empty()) return nullptr;
    auto all = std::make_shared<JobMembers>(facts.kind->replica_types.size());
    for (const TypeFacts& type : facts.types) {
        const auto written = status.members.find(facts.name_of(type.type));
        (*all)[type.type] = written == status.members.end() ? Members::first(type.wanted)
                                                            : Members::read(written->second);
    }
    return all;
}

}  // namespace muster::operators
