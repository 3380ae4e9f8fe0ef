#include "sim/internal/launch_of_pod.h"

#include <boost/json/array.hpp>
#include <variant>
#include <vector>

#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

std::vector<std::string> words_at(const json::value& container, std::string_view key) {
    std::vector<std::string> words;
    const json::value* list = find_at(container, {key});
    if (list == nullptr || !list->is_array()) return words;
    for (const json::value& word : list->get_array()) words.emplace_back(word.get_string());
    return words;
}

launch::Variables environment_of(const json::value& container) {
    launch::Variables variables;
    const json::value* list = find_at(container, {"env"});
    if (list == nullptr || !list->is_array()) return variables;
    for (const json::value& one : list->get_array())
        variables.emplace_back(text_at(one, {"name"}), text_at(one, {"value"}));
    return variables;
}

Result<std::optional<launch::LaunchPlan>> launch_of_container(const json::value& container) {
    std::vector<std::string> words = words_at(container, "command");
    if (words.empty() || words.front() != to_string(launch::LaunchCommand::kMusterRun))
        return std::optional<launch::LaunchPlan>();
    words.erase(words.begin());
    for (std::string& word : words_at(container, "args")) words.push_back(std::move(word));
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
    const json::value* containers = find_at(pod, {"spec", "containers"});
    if (containers == nullptr || !containers->is_array())
        return std::optional<launch::LaunchPlan>();
    for (const json::value& container : containers->get_array()) {
        TRY(auto plan, launch_of_container(container));
        if (plan) return plan;
    }
    return std::optional<launch::LaunchPlan>();
}

}  // namespace muster::sim
