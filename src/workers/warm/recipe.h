#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/placement.h"
#include "workers/workers.h"

namespace muster::workers {

/// What a warm spare is made from: everything that the running worker and its successor have in
/// common (docs/design/warm.md).
struct SpareRecipe {
    int local_rank = 0;
    std::vector<std::string> head = {};  ///< PYTHON [OPTION...] SCRIPT or -m MODULE
    std::vector<std::pair<std::string, std::string>> environment = {};
    launch::Placement placement = {};
};

/// Whether a variable changes with each attempt or each start of a worker. A spare does not get it,
/// and no module may read it while it is imported.
bool is_left_out(std::string_view variable);

/// nullopt if such a worker can't start in a spare.
std::optional<SpareRecipe> recipe_for(const launch::WorkerStart& worker,
                                      const launch::Placement& placement);

/// The command line of the spare itself.
std::vector<std::string> spare_command(const SpareRecipe& recipe, const std::string& zygote,
                                       const std::vector<std::string>& modules,
                                       const std::string& imports);

/// The arguments of the worker's command that follow what it shares with its spare.
std::vector<std::string> arguments_for(const launch::WorkerStart& worker);

/// Why a process made from one recipe can't become the worker of the other; empty if it can.
/// Whether its environment permits it is decided by the spare, which knows what was read.
std::string why_unfit(const SpareRecipe& made, const SpareRecipe& wanted);

}  // namespace muster::workers
