#include "sim/internal/programs/launch_of_pod.h"

#include <variant>
#include <vector>

#include "sim/internal/programs/command_of_container.h"

namespace muster::sim {

namespace {

Result<std::optional<launch::LaunchPlan>> launch_of_container(const json::value& container) {
    std::vector<std::string> words = command_of(container);
    if (words.empty() || words.front() != to_string(launch::LaunchCommand::kMusterRun))
        return std::optional<launch::LaunchPlan>();
    words.erase(words.begin());
    const launch::Variables variables = environment_of(container);
    TRY(auto parsed,
        launch::parse_launch_flags(launch::LaunchCommand::kMusterRun, words, variables));
    if (!std::holds_alternative<launch::LaunchFlags>(parsed))
        return std::optional<launch::LaunchPlan>();
    TRY(launch::LaunchPlan plan,
        launch::make_launch_plan(
            std::get<launch::LaunchFlags>(parsed), variables,
            {.devices = {.cpus = 1}, .python = "/usr/bin/python3", .fresh_id = "simulated"}));
    return std::optional(std::move(plan));
}

}  // namespace

Result<std::optional<launch::LaunchPlan>> launch_of_pod(const json::value& pod) {
    for (const json::value* const container : containers_of(pod)) {
        TRY(auto plan, launch_of_container(*container));
        if (plan) return plan;
    }
    return std::optional<launch::LaunchPlan>();
}

}  // namespace muster::sim
