#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster::cli {

/// What follows `muster run`, taken apart: our flags, and the program with its own.
struct ScriptLine {
    std::vector<std::string> flags;  ///< for the parser of flags; with a manifest, its files too
    std::vector<std::string>
        command;  ///< the program and all that follows it; empty: a manifest is run
    std::vector<std::string> program_arguments;  ///< what follows "--" after a manifest
};

/// What is known of the words while they are taken apart.
struct LineKnowledge {
    std::function<bool(const std::string& flag)> takes_value;
    /// Whether a word is a program of this machine, by its path or in PATH.
    std::function<bool(const std::string& word)> is_program;
};

/// The first word that is neither a flag nor a flag's value decides: a script or program begins the
/// command, as with torchrun and python; anything else is a manifest. "--" begins a command, too,
/// or, after a manifest, arguments for its program. Words that users of other launchers know become
/// ours: "-n 4" and "-np 4" for processes (a name after -n stays the namespace), "--elastic 2:8",
/// "-m MODULE". Pure.
ScriptLine read_script_line(const std::vector<std::string>& words, const LineKnowledge& known);

}  // namespace muster::cli
