#include "launch/worker_command.h"

#include <fmt/format.h>

#include "base/check.h"

namespace muster::launch {
namespace {

using Kind = WorkerCommand::Kind;

/// Python code for what torch's --run-path does within its process.
constexpr std::string_view kRunPath =
    "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')";
/// What torch.distributed.launch gives each script before its own arguments.
constexpr std::string_view kLocalRank = "--local-rank=${local_rank}";

Result<Kind> kind_of(const LaunchFlags& flags) {
    const auto both = [&](Flag one, Flag other) {
        return Error(Code::kInvalid,
                     fmt::format("{} and {} exclude each other; drop one of them",
                                 flags.get(one).written(), flags.get(other).written()));
    };
    const bool module = flags.on(Flag::kModule);
    if (flags.on(Flag::kRunPath)) {
        if (module) return both(Flag::kRunPath, Flag::kModule);
        return Kind::kRunPath;
    }
    if (!flags.on(Flag::kNoPython)) return module ? Kind::kModule : Kind::kScript;
    if (module) return both(Flag::kNoPython, Flag::kModule);
    return Kind::kProgram;
}

/// Whether scripts get their local rank as an argument (torch/distributed/launch.py, since torch 2).
Result<bool> passes_local_rank(const LaunchFlags& flags) {
    if (flags.command != LaunchCommand::kTorchLaunch || flags.on(Flag::kUseEnv)) return false;
    for (const Flag flag : {Flag::kNoPython, Flag::kLiteralArgs})
        if (flags.on(flag))
            return Error(
                Code::kInvalid,
                fmt::format("{} needs --use-env: without it torch.distributed.launch gives "
                            "each worker an argument --local-rank",
                            flags.get(flag).written()));
    return true;
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Python's string.Template.safe_substitute() with a single name.
std::string replaced(const std::string& text, const std::string& local_rank) {
    constexpr std::string_view kName = "local_rank";
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = std::string_view(text).substr(at);
        if (!rest.starts_with('$')) {
            made += text[at++];
        } else if (rest.starts_with("$$")) {
            made += '$';
            at += 2;
        } else if (rest.starts_with("${local_rank}")) {
            made += local_rank;
            at += kName.size() + 3;
        } else if (rest.substr(1).starts_with(kName) &&
                   (rest.size() == kName.size() + 1 ||
                    !is_name_character(rest[kName.size() + 1]))) {
            made += local_rank;
            at += kName.size() + 1;
        } else {
            made += text[at++];
        }
    }
    return made;
}

}  // namespace

Result<WorkerCommand> worker_command(const LaunchFlags& flags, const std::string& python) {
    TRY(const Kind kind, kind_of(flags));
    TRY(const bool local_rank, passes_local_rank(flags));
    WorkerCommand command{
        .kind = kind, .script = flags.script, .literal = flags.on(Flag::kLiteralArgs)};
    if (kind == Kind::kProgram) {
        command.words = {flags.script};
    } else {
        if (python.empty())
            return Error(Code::kNotFound,
                         "PATH has neither python nor python3; set PYTHON_EXEC, or use --no-python "
                         "if SCRIPT is a program");
        command.words = {python, "-u"};
        if (kind == Kind::kModule) command.words.emplace_back("-m");
        if (kind == Kind::kRunPath) {
            command.words.emplace_back("-c");
            command.words.emplace_back(kRunPath);
        }
        command.words.push_back(flags.script);
        if (kind != Kind::kRunPath) command.spare_words = static_cast<int>(command.words.size());
    }
    if (local_rank) command.words.emplace_back(kLocalRank);
    command.words.insert(command.words.end(), flags.arguments.begin(), flags.arguments.end());
    return command;
}

std::vector<std::string> words_for(const WorkerCommand& command, int local_rank) {
    CHECK(!command.words.empty(), "there is something to run");
    if (command.literal) return command.words;
    std::vector<std::string> words = {command.words.front()};
    for (std::size_t i = 1; i < command.words.size(); ++i)
        words.push_back(replaced(command.words[i], std::to_string(local_rank)));
    return words;
}

std::optional<FileToCheck> file_to_check(const WorkerCommand& command) {
    if (command.kind == Kind::kModule) return std::nullopt;
    if (command.kind == Kind::kProgram)
        return FileToCheck{command.script, command.script.find('/') == std::string::npos};
    return FileToCheck{command.literal ? command.script : replaced(command.script, "0")};
}

Result<void> check_command(const WorkerCommand& command, const FileFacts& facts) {
    const std::optional<FileToCheck> file = file_to_check(command);
    if (!file) return {};
    const std::string& path = file->path;
    if (!facts.exists) {
        if (file->in_path)
            return Error(
                Code::kNotFound,
                fmt::format("PATH has no program {}; for a file in this directory write ./{}", path,
                            path));
        return Error(Code::kNotFound, fmt::format("there is no {} (a module needs -m)", path));
    }
    if (command.kind == Kind::kProgram) {
        if (facts.is_directory)
            return Error(Code::kInvalid, fmt::format("{} is a directory, not a program", path));
        if (!facts.executable)
            return Error(Code::kInvalid, fmt::format("{} may not be executed; run 'chmod +x {}', "
                                                     "or drop --no-python if it is a Python script",
                                                     path, path));
        return {};
    }
    if (facts.is_directory && !facts.has_main)
        return Error(Code::kInvalid,
                     fmt::format("{} is a directory without a __main__.py, not a script", path));
    if (!facts.readable) return Error(Code::kForbidden, fmt::format("{} may not be read", path));
    return {};
}

}  // namespace muster::launch
