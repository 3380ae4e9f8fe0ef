#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/flags.h"

namespace muster::launch {

/// The command of each worker.
struct WorkerCommand {
    enum class Kind : std::uint8_t { kScript, kModule, kProgram, kRunPath };

    Kind kind = Kind::kScript;
    std::string script = {};              ///< as given: a file, a module, or a program
    std::vector<std::string> words = {};  ///< the whole command, with macros not yet replaced
    int spare_words = 0;                  ///< see WorkerStart
    bool literal = false;                 ///< there are no macros

    friend bool operator==(const WorkerCommand&, const WorkerCommand&) = default;
};

/// The names that are looked up in PATH, in this order, if PYTHON_EXEC is not set. "python" comes
/// first because images and environments put it before the system's.
inline constexpr std::string_view kPythonNames[] = {"python", "python3"};

/// Builds the command as torchrun does: `python -u SCRIPT ...`, `python -u -m MODULE ...`, the
/// program itself, or runpy.run_path, which overrides --no-python. `python`: from PYTHON_EXEC or
/// PATH; empty if there is none. kInvalid: flags that exclude each other, or no Python.
Result<WorkerCommand> worker_command(const LaunchFlags& flags, const std::string& python);

/// For one worker: `${local_rank}` and `$local_rank` become its number and `$$` one `$`, in all
/// words but the first; any other `$` stays, and all do if they are literal (torch/distributed/elastic/utils/api.py).
std::vector<std::string> words_for(const WorkerCommand& command, int local_rank);

/// What is at a path, following links.
struct FileFacts {
    bool exists = false;
    bool is_directory = false;
    bool has_main = false;  ///< a directory with a __main__.py
    bool readable = false;
    bool executable = false;
};

/// The file whose FileFacts check_command() needs. Without a '/' and with `in_path`, the file that
/// PATH has by that name; FileFacts that do not exist if PATH has none.
struct FileToCheck {
    std::string path;
    bool in_path = false;
};
/// nullopt for a module: only Python knows where it is.
std::optional<FileToCheck> file_to_check(const WorkerCommand& command);

/// Checks before anything starts whether the script is missing, a directory without __main__.py, or
/// unreadable, or the program missing or not executable. kNotFound or kInvalid.
Result<void> check_command(const WorkerCommand& command, const FileFacts& facts);

}  // namespace muster::launch
