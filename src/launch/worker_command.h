#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/flags.h"

namespace muster::launch {

/// What each worker runs.
struct WorkerCommand {
    enum class Kind : std::uint8_t { kScript, kModule, kProgram, kRunPath };

    Kind kind = Kind::kScript;
    std::string script = {};              ///< as written: a file, a module, a program
    std::vector<std::string> words = {};  ///< all of it; macros are not replaced yet
    int spare_words = 0;                  ///< WorkerStart's

    friend bool operator==(const WorkerCommand&, const WorkerCommand&) = default;
};

/// The names under which Python is looked for in PATH, one after the other, without PYTHON_EXEC.
/// "python" comes first: it is what images and environments put in front of the system's.
inline constexpr std::string_view kPythonNames[] = {"python", "python3"};

/// As torchrun makes it: `python -u SCRIPT ...`, `python -u -m MODULE ...`, the program itself, or
/// runpy.run_path, which goes before --no-python. `python`: what PYTHON_EXEC says or PATH has;
/// empty: there is none. kInvalid: flags that exclude each other, or no Python.
Result<WorkerCommand> worker_command(const LaunchFlags& flags, const std::string& python);

/// For one worker: `${local_rank}` and `$local_rank` become its number and `$$` one `$`, in all
/// words but the first; any other `$` stays (torch/distributed/elastic/utils/api.py).
std::vector<std::string> words_for(const WorkerCommand& command, int local_rank);

/// What there is at a path, with links followed.
struct FileFacts {
    bool exists = false;
    bool is_directory = false;
    bool has_main = false;  ///< a directory with a __main__.py
    bool readable = false;
    bool executable = false;
};

/// Whose FileFacts check_command() wants. Without a '/' and `in_path`, what PATH has by that name;
/// a FileFacts that does not exist if it has none.
struct FileToCheck {
    std::string path;
    bool in_path = false;
};
/// Nothing: of a module Python alone knows where it is.
std::optional<FileToCheck> file_to_check(const WorkerCommand& command);

/// Before anything starts: the script is missing, a directory without __main__.py, not readable;
/// the program is missing or not executable. kNotFound or kInvalid.
Result<void> check_command(const WorkerCommand& command, const FileFacts& facts);

}  // namespace muster::launch
