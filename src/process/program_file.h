#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::process {

/// The files that a command may mean, in the order in which they are tried: the name itself if it
/// has a slash, else the name in each directory of PATH (an empty entry means the working
/// directory).
std::vector<std::string> program_candidates(std::string_view name, std::string_view path);

enum class ProgramFault : std::uint8_t {
    kMissing,
    kNotExecutable,
    kInterpreterMissing,
    kFormat,
    kOther,
};

/// Why a program can't be executed.
struct ProgramFailure {
    ProgramFault fault = ProgramFault::kOther;
    int error = 0;
    std::string detail;  ///< the path or the interpreter that the failure is about

    friend bool operator==(const ProgramFailure&, const ProgramFailure&) = default;
};

/// Why none of the candidates could be executed, given the error of the most telling attempt, or 0
/// before any attempt: kOther then means that nothing is wrong with one. Looks at the files as the
/// caller sees them.
ProgramFailure diagnose_program(const std::vector<std::string>& candidates, std::string_view name,
                                int error);

/// The value of PATH in "KEY=value" entries; if there is none, the default of execvp.
std::string path_of(const std::vector<std::string>& environment);

}  // namespace muster::process
