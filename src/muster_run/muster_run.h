#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/flags.h"

namespace muster::run {

/// `muster-run`, `torchrun` or `dlrover-run`: an agent for the workers of this node, and the job's
/// master beside it where that belongs here. `arguments` are those behind argv[0]. Blocks until
/// nothing of the job is left on this node. `in_place_of`: the launcher of torch's whose place it
/// takes, as a command names it, or empty; workers then get its interpreter (python_of()).
///
/// The exit code: 0, the job succeeded; 1, it failed, or went on without this node; 2, nothing was
/// started, since something that was asked for is wrong; 128 and the number of a signal, which
/// ended it.
int muster_run(launch::LaunchCommand command, const std::vector<std::string>& arguments,
               launch::Variables variables, const std::string& in_place_of = {});

/// The same as main() is called: under one of these names, or with "muster-run" as the first word, or
/// with "muster-run-for" and a launcher whose place it takes: `torchrun`, or a Python, whose words
/// may begin with `-m` and the launcher's module. A link to this program with the name of a launcher
/// takes the place of the next one of PATH. Nothing: it was called for something else.
std::optional<int> run_by_name(int argc, char** argv, char** environment);

/// An environment as main() has it.
launch::Variables variables_of(char** environment);

}  // namespace muster::run
