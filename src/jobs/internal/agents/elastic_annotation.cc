#include "jobs/internal/agents/elastic_annotation.h"

#include <fmt/format.h>

#include <ranges>

#include "jobs/agent_command.h"
#include "jobs/internal/agents/agent_in_pods.h"
#include "jobs/internal/text.h"

namespace muster::jobs {
namespace {

const std::string* value_of_elastic(const Job& job) {
    const auto found = job.metadata.annotations.find(std::string(annotations::kElastic));
    return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

std::vector<std::string> types_of(const Job& job) {
    const auto types = job.replicas | std::views::keys;
    return {types.begin(), types.end()};
}

/// Why agents are put before no command of the job; empty: they are.
std::string why_without_agents(const Job& job) {
    if (wants_agent_of_image(job))
        return fmt::format("has no effect with {}: {}. With it {}", annotations::kAgent,
                           annotations::kAgentOfImage, kMissingWithoutAgent);
    if (job.platform.cluster && !job.platform.gives_program())
        return "has no effect on a cluster whose operator has no image to give pods the agent from "
               "(muster operator --in-pods-image): write muster-run into the commands of images "
               "that have it";
    return {};
}

}  // namespace

bool gets_agents(const Job& job) {
    const std::string* const value = value_of_elastic(job);
    return value != nullptr && *value == annotations::kYes && can_get_agent(job);
}

void put_agent(const Job& job, kube::Pod& pod) {
    if (!gets_agents(job)) return;
    const kube::Container* const chosen = default_container(*job.kind, pod.spec);
    for (kube::Container& container : pod.spec.containers)
        if (&container == chosen) return give_agent(job, pod, container, OtherPrograms::kAsWorkers);
}

std::vector<Cause> check_agents(const Job& job) {
    if (!gets_agents(job)) return {};
    std::vector<Cause> found = check_agent(job, types_of(job), OtherPrograms::kAsWorkers);
    for (Cause& cause : found)
        cause.message = fmt::format("{}: {}", annotations::kElastic, cause.message);
    return found;
}

std::vector<Cause> ineffective_elastic(const Job& job) {
    const std::string* const value = value_of_elastic(job);
    if (value == nullptr || *value == annotations::kNo) return {};
    const std::string field = fmt::format("metadata.annotations[{}]", annotations::kElastic);
    if (*value != annotations::kYes)
        return {ineffective(field, fmt::format("only \"true\" has a meaning, not \"{}\"", *value))};
    if (const std::string why = why_without_agents(job); !why.empty())
        return {ineffective(field, why)};
    return not_reached_by_agent(job, types_of(job));
}

}  // namespace muster::jobs
