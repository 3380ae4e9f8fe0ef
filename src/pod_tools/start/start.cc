#include "pod_tools/start/start.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "pod_tools/start/execution.h"
#include "pod_tools/start/program_files.h"
#include "pod_tools/start/python_words.h"
#include "pod_tools/start/search_path.h"
#include "process/program_file.h"

namespace muster::pod_tools {

namespace {

constexpr int kNoCommand = 2;
constexpr int kLost = 126;

constexpr std::string_view kUsage =
    R"(Usage: muster-start COMMAND...

Becomes COMMAND, with the folder of this program first in PATH, and the folder 'python' beside that
first in PYTHONPATH. So what COMMAND starts as torchrun, dlrover-run or python is found there.

Exit status: that of COMMAND; 127, it was not found; 126, it can't be executed; 2, there is none.
)";

void say(int stream, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(stream, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

/// The paths by which the kernel and the caller know this program. For a script whose first line
/// names it the first one is the script's.
std::vector<std::string> called_as(const char* name, const Environment& environment) {
    std::vector<std::string> paths;
    if (const auto* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)))
        paths.emplace_back(path);
    for (std::string& place :
         process::program_candidates(name, variable(environment, "PATH").value_or(kShellsPath)))
        paths.push_back(std::move(place));
    return paths;
}

}  // namespace

int run_start(int argc, char** argv, char** environment) {
    Environment variables;
    for (char** one = environment; *one != nullptr; ++one) variables.emplace_back(*one);
    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    const std::string name(argc > 0 ? file_name(argv[0]) : kStartName);
    const std::string bin = own_folder(called_as(argc > 0 ? argv[0] : kStartName, variables));
    if (bin.empty()) {
        say(STDERR_FILENO,
            "muster-start: this program does not find the folder in which it lies: "
            "its file must be called muster-start\n");
        return kLost;
    }
    const bool python = is_python(name);
    if (!python && words.empty()) {
        say(STDERR_FILENO, kUsage);
        return kNoCommand;
    }
    if (!python && words.size() == 1 && words.front() == "--help") {
        say(STDOUT_FILENO, kUsage);
        return 0;
    }
    const std::string command = python ? name : words.front();
    const Execution execution =
        python ? python_execution(bin, name, words, std::move(variables), ::getpid())
               : command_execution(bin, std::move(words), std::move(variables));
    const int error = execute(execution);
    const StartFailure failure = start_failure(command, execution, error);
    say(STDERR_FILENO, failure.text);
    return failure.exit_status;
}

}  // namespace muster::pod_tools
