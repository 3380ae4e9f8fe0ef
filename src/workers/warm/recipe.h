#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/placement.h"
#include "workers/workers.h"

namespace muster::workers {

/// What a warm spare is made with: of the worker that runs, what the next one in its place will
/// have as well (docs/design/warm.md).
struct SpareRecipe {
    int local_rank = 0;
    std::vector<std::string> head = {};  ///< PYTHON [OPTION...] SCRIPT or -m MODULE
    std::vector<std::pair<std::string, std::string>> environment = {};
    launch::Placement placement = {};
};

/// Whether a worker's variable is another one for each attempt, or for each start: a spare does not
/// have it, and no module may look at it while it is imported.
bool is_left_out(std::string_view variable);

/// Nothing: such a worker can't begin as a spare.
std::optional<SpareRecipe> recipe_for(const launch::WorkerStart& worker,
                                      const launch::Placement& placement);

/// The spare's own command.
std::vector<std::string> spare_command(const SpareRecipe& recipe, const std::string& zygote,
                                       const std::vector<std::string>& modules,
                                       const std::string& imports);

/// What the worker's command has behind that of its spare.
std::vector<std::string> arguments_for(const launch::WorkerStart& worker);

/// Why the process that was made by one recipe can't be the worker of another; empty: it can. What
/// its environment allows is up to the spare, which knows what was read.
std::string why_unfit(const SpareRecipe& made, const SpareRecipe& wanted);

}  // namespace muster::workers
