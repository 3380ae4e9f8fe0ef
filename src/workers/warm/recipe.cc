#include "workers/warm/recipe.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "workers/shim/order.h"

namespace muster::workers {

namespace {

/// Ranks, addresses, and counters of attempts.
constexpr std::array<std::string_view, 10> kUnknown = {"RANK",
                                                       "GROUP_RANK",
                                                       "ROLE_RANK",
                                                       "WORLD_SIZE",
                                                       "ROLE_WORLD_SIZE",
                                                       "GROUP_WORLD_SIZE",
                                                       "MASTER_ADDR",
                                                       "MASTER_PORT",
                                                       "TORCHELASTIC_RESTART_COUNT",
                                                       "TORCHELASTIC_ERROR_FILE"};

}  // namespace

bool is_left_out(std::string_view variable) {
    // MUSTER_PROGRESS belongs to the spare, and stays when it becomes a worker.
    if (variable.starts_with("MUSTER_")) return variable != "MUSTER_PROGRESS";
    return std::ranges::find(kUnknown, variable) != kUnknown.end();
}

std::optional<SpareRecipe> recipe_for(const launch::WorkerStart& worker,
                                      const launch::Placement& placement) {
    const auto words = static_cast<std::size_t>(worker.spare_words);
    if (words == 0 || words > worker.command.size()) return std::nullopt;
    SpareRecipe recipe{.local_rank = worker.local_rank, .placement = placement};
    recipe.head.assign(worker.command.begin(),
                       worker.command.begin() + static_cast<std::ptrdiff_t>(words));
    for (const auto& [name, value] : worker.environment)
        if (!is_left_out(name)) recipe.environment.emplace_back(name, value);
    return recipe;
}

std::vector<std::string> spare_command(const SpareRecipe& recipe, const std::string& zygote,
                                       const std::vector<std::string>& modules,
                                       const std::string& imports) {
    // The worker's own interpreter and options; the program follows them.
    const bool module = recipe.head.size() > 2 && *(recipe.head.end() - 2) == "-m";
    std::vector<std::string> command(recipe.head.begin(), recipe.head.end() - (module ? 2 : 1));
    for (const std::string& word :
         {zygote, std::string("--control"), std::to_string(kShimControlFd)})
        command.push_back(word);
    for (const std::string& name : modules) {
        command.emplace_back("--module");
        command.push_back(name);
    }
    if (!imports.empty()) {
        command.emplace_back("--learnt");
        command.push_back(imports);
    }
    command.emplace_back("--");
    command.insert(command.end(), recipe.head.begin(), recipe.head.end());
    return command;
}

std::vector<std::string> arguments_for(const launch::WorkerStart& worker) {
    return {worker.command.begin() + worker.spare_words, worker.command.end()};
}

std::string why_unfit(const SpareRecipe& made, const SpareRecipe& wanted) {
    if (made.local_rank != wanted.local_rank) return "the spare belongs to another local rank";
    if (made.head != wanted.head) return "the spare was made for another command";
    // Ignores the note, which is text for people.
    if (made.placement.cpus != wanted.placement.cpus ||
        made.placement.memory != wanted.placement.memory ||
        made.placement.nodes != wanted.placement.nodes)
        return "the spare is bound to other processors or memory";
    return {};
}

}  // namespace muster::workers
