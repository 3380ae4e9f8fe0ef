#include "jobs/internal/agents/agent_in_pods.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <iterator>
#include <utility>

#include "jobs/agent_command.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/text.h"

namespace muster::jobs {
namespace {

bool is_on_a_node(const Job& job) { return !job.platform.node_program.empty(); }

json::object words_of(const kube::Container& container) {
    return {{"command", json::array(container.command.begin(), container.command.end())},
            {"args", json::array(container.args.begin(), container.args.end())}};
}

/// On one machine; nothing: the command stays as it is.
Result<std::optional<json::array>> with_agent(const Job& job, const kube::Container& container,
                                              OtherPrograms others) {
    const std::string program = program_in_pods(job.platform);
    const AgentWords agent{.words = {program, "muster-run"},
                           .in_place_of = {program, "muster-run-for"}};
    return others == OtherPrograms::kAsWorkers ? agent_command(words_of(container), agent)
                                               : agent_in_place(words_of(container), agent);
}

void replace_command(kube::Container& container, const json::array& words) {
    container.command.clear();
    container.args.clear();
    for (const json::value& word : words) container.command.emplace_back(word.get_string());
}

void put_into_command(const Job& job, kube::Pod& pod, kube::Container& container,
                      OtherPrograms others) {
    const auto command = with_agent(job, container, others);
    if (!command || !*command) return;
    replace_command(container, **command);
    add_program(job.platform, pod, container);
}

/// A Python as a worker: its agent is found where muster-start has put it.
void put_before_python(kube::Container& container) {
    std::vector<std::string> words = container.command;
    words.insert(words.end(), container.args.begin(), container.args.end());
    if (!starts_python(words)) return;
    const auto made = agent_command(words_of(container),
                                    {.words = {"muster-run"}, .in_place_of = {"muster-run-for"}});
    // A launcher is the agent by itself.
    if (made && *made && (*made)->front() == "muster-run") replace_command(container, **made);
}

void put_behind_start(const Job& job, kube::Pod& pod, kube::Container& container,
                      OtherPrograms others) {
    if (container.command.empty()) return;
    if (others == OtherPrograms::kAsWorkers) put_before_python(container);
    container.command.insert(
        container.command.begin(),
        fmt::format("{}/bin/muster-start", agent_folder_in_pods(job.platform)));
    add_agent_folder(job.platform, pod, container);
}

struct DefaultContainer {
    const kube::Container* container = nullptr;
    std::string field;  ///< "spec.….containers[1]"
};

/// Of those types that the job has.
std::vector<DefaultContainer> default_containers(const Job& job,
                                                 const std::vector<std::string>& types) {
    std::vector<DefaultContainer> found;
    for (const std::string& type : types) {
        const ReplicaSpec* const replica = job.replica(type);
        if (replica == nullptr) continue;
        const kube::PodSpec& spec = replica->template_.spec;
        if (const kube::Container* const container = default_container(*job.kind, spec))
            found.push_back(
                {container, fmt::format("{}.template.spec.containers[{}]", job.replica_path(type),
                                        container - spec.containers.data())});
    }
    return found;
}

}  // namespace

bool wants_agent_of_image(const Job& job) {
    const auto found = job.metadata.annotations.find(std::string(annotations::kAgent));
    return found != job.metadata.annotations.end() && found->second == annotations::kAgentOfImage;
}

bool can_get_agent(const Job& job) {
    return job.platform.gives_program() && !wants_agent_of_image(job);
}

void give_agent(const Job& job, kube::Pod& pod, kube::Container& container, OtherPrograms others) {
    if (!can_get_agent(job)) return;
    if (is_on_a_node(job))
        put_into_command(job, pod, container, others);
    else
        put_behind_start(job, pod, container, others);
}

std::vector<Cause> check_agent(const Job& job, const std::vector<std::string>& types,
                               OtherPrograms others) {
    std::vector<Cause> causes;
    if (!can_get_agent(job) || !is_on_a_node(job)) return causes;
    for (const auto& [container, field] : default_containers(job, types))
        if (const auto command = with_agent(job, *container, others); !command)
            causes.push_back(invalid(
                fmt::format("{}.{}", field, container->command.empty() ? "args" : "command"),
                command.error().message()));
    return causes;
}

std::vector<Cause> not_reached_by_agent(const Job& job, const std::vector<std::string>& types) {
    std::vector<Cause> causes;
    if (wants_agent_of_image(job) || is_on_a_node(job)) return causes;
    for (const auto& [container, field] : default_containers(job, types))
        if (container->command.empty())
            causes.push_back(doubtful(
                field + ".command",
                fmt::format("without a command the entry point of the image runs, which "
                            "muster-start can't stand before, and {}. Write the entry point as "
                            "the command",
                            kMissingWithoutAgent)));
    return causes;
}

}  // namespace muster::jobs
