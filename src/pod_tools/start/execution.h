#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pod_tools/start/environment.h"

namespace muster::pod_tools {

/// What a process is to become.
struct Execution {
    std::vector<std::string> places;  ///< the first that can be executed is
    std::vector<std::string> words;   ///< argv
    /// argv[0] is the place instead: by that a Python finds the virtual environment it belongs to.
    bool called_by_place = false;
    Environment environment;
};

/// The command of a container, reached by our names: `bin`, the folder of this program, comes first
/// in PATH, and the folder `python` beside it first in PYTHONPATH. A launcher that the command names
/// by its path, past PATH, is replaced by the agent here. `words` are not empty.
Execution command_execution(const std::string& bin, std::vector<std::string> words,
                            Environment environment);

/// `python` or `python3`, called by this name with these words behind it: the agent, if they start a
/// launcher, and otherwise the next Python of PATH behind our own folder, or the first if that is
/// not in PATH. A `python` that PATH does not have may be a `python3`.
///
/// A `python` that is a script (pyenv's and others') may look for another one in PATH and come back
/// here, as the same process `pid`: it is given those behind that script. MUSTER_PYTHON remembers it.
Execution python_execution(const std::string& bin, const std::string& name,
                           const std::vector<std::string>& words, Environment environment,
                           std::int64_t pid);

/// Becomes the program; if it can't, returns the error that tells most. As execvp() does, it continues with
/// the next place after one that isn't there or may not be executed.
int execute(const Execution& execution);

/// What is said of a command that could not be executed, and the exit status, as shells have both.
struct StartFailure {
    int exit_status = 0;
    std::string text;  ///< with a new line at its end

    friend bool operator==(const StartFailure&, const StartFailure&) = default;
};
StartFailure start_failure(std::string_view command, const Execution& execution, int error);

}  // namespace muster::pod_tools
