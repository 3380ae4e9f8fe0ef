#include "jobs/internal/agents/elastic_annotation.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "jobs/agent_command.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/text.h"

namespace muster::jobs {
namespace {

const std::string* value_of_elastic(const Job& job) {
    const auto found = job.metadata.annotations.find(std::string(annotations::kElastic));
    return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

Result<std::optional<json::array>> with_agent(const Job& job, const kube::Container& container) {
    const std::string program = program_in_pods(job.platform);
    const json::object words{
        {"command", json::array(container.command.begin(), container.command.end())},
        {"args", json::array(container.args.begin(), container.args.end())}};
    return agent_command(
        words, {.words = {program, "muster-run"}, .in_place_of = {program, "muster-run-for"}});
}

}  // namespace

bool gets_agents(const Job& job) {
    const std::string* const value = value_of_elastic(job);
    return value != nullptr && *value == annotations::kYes && !job.platform.node_program.empty();
}

void put_agent(const Job& job, kube::Pod& pod) {
    if (!gets_agents(job)) return;
    const kube::Container* const chosen = default_container(*job.kind, pod.spec);
    for (kube::Container& container : pod.spec.containers) {
        if (&container != chosen) continue;
        const auto command = with_agent(job, container);
        if (!command || !*command) return;
        container.command.clear();
        for (const json::value& word : **command) container.command.emplace_back(word.get_string());
        container.args.clear();
        add_program(job.platform, pod, container);
        return;
    }
}

std::vector<Cause> check_agents(const Job& job) {
    std::vector<Cause> found;
    if (!gets_agents(job)) return found;
    for (const auto& [type, replica] : job.replicas) {
        const kube::PodSpec& spec = replica.template_.spec;
        const kube::Container* const container = default_container(*job.kind, spec);
        if (container == nullptr) continue;
        if (const auto command = with_agent(job, *container); !command)
            found.push_back(
                invalid(fmt::format("{}.template.spec.containers[{}].{}", job.replica_path(type),
                                    container - spec.containers.data(),
                                    container->command.empty() ? "args" : "command"),
                        fmt::format("{}: {}", annotations::kElastic, command.error().message())));
    }
    return found;
}

std::optional<Cause> ineffective_elastic(const Job& job) {
    const std::string* const value = value_of_elastic(job);
    if (value == nullptr || *value == annotations::kNo) return std::nullopt;
    const std::string field = fmt::format("metadata.annotations[{}]", annotations::kElastic);
    if (*value != annotations::kYes)
        return ineffective(field, fmt::format("only \"true\" has a meaning, not \"{}\"", *value));
    if (job.platform.cluster)
        return ineffective(field,
                           "has no effect on a cluster, whose images may lack the agent: write "
                           "muster-run into the commands");
    return std::nullopt;
}

}  // namespace muster::jobs
