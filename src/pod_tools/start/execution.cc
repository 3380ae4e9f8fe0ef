#include "pod_tools/start/execution.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <span>

#include "pod_tools/start/program_files.h"
#include "pod_tools/start/python_words.h"
#include "pod_tools/start/search_path.h"
#include "process/program_file.h"

namespace muster::pod_tools {

namespace {

constexpr std::string_view kPath = "PATH";
constexpr std::string_view kPythonPath = "PYTHONPATH";
/// "PID PLACE": what this process has become before it came back here.
constexpr std::string_view kWentTo = "MUSTER_PYTHON";
constexpr auto kLaunchers = std::to_array<std::string_view>({"torchrun", "dlrover-run"});

std::string_view path_of(const Environment& environment) {
    return variable(environment, kPath).value_or(kShellsPath);
}

std::string beside(const std::string& bin, std::string_view name) {
    return (bin + '/').append(name);
}

/// The agent in the place of a launcher, whose interpreter its workers get.
Execution agent_execution(const std::string& bin, std::vector<std::string> launcher,
                          std::span<const std::string> rest, Environment environment) {
    Execution made{.places = {beside(bin, "muster-run")},
                   .words = {"muster", "muster-run-for"},
                   .environment = std::move(environment)};
    std::ranges::move(launcher, std::back_inserter(made.words));
    std::ranges::copy(rest, std::back_inserter(made.words));
    return made;
}

std::span<const std::string> behind(const std::vector<std::string>& words, std::size_t first) {
    return std::span(words).subspan(first);
}

/// The places behind the last one that this process has become already.
std::span<const std::string> not_yet_tried(std::span<const std::string> places,
                                           const Environment& environment, std::int64_t pid) {
    const auto went = variable(environment, kWentTo);
    if (!went) return places;
    std::int64_t who = 0;
    const auto [end, error] = std::from_chars(went->data(), went->data() + went->size(), who);
    if (error != std::errc() || who != pid || end == went->data() + went->size()) return places;
    const std::string_view place(end + 1, went->data() + went->size());
    const auto found = std::ranges::find(places, place);
    return found == places.end()
               ? places
               : places.subspan(static_cast<std::size_t>(found - places.begin()) + 1);
}

/// Those behind our own folder that are not ours.
std::vector<std::string> others_than_ours(std::string_view name, const Environment& environment,
                                          std::int64_t pid) {
    const std::vector<std::string> all = process::program_candidates(name, path_of(environment));
    const auto ours = std::ranges::find_if(all, is_start_program);
    const std::size_t first =
        ours == all.end() ? 0 : static_cast<std::size_t>(ours - all.begin()) + 1;
    std::vector<std::string> found;
    std::ranges::copy_if(not_yet_tried(behind(all, first), environment, pid),
                         std::back_inserter(found),
                         [](const std::string& place) { return !is_start_program(place); });
    return found;
}

}  // namespace

Execution command_execution(const std::string& bin, std::vector<std::string> words,
                            Environment environment) {
    const std::string python_folder = (std::string(folder_of(bin)) + '/').append("python");
    set_variable(environment, kPath, with_first(bin, path_of(environment)));
    set_variable(environment, kPythonPath,
                 with_first(python_folder, variable(environment, kPythonPath).value_or("")));
    const std::string& program = words.front();
    if (program.find('/') != program.npos && folder_of(program) != bin && is_program(program)) {
        if (is_python(program) && !is_start_program(program))
            if (const auto module = find_launcher_module(behind(words, 1)))
                return agent_execution(bin, {program, "-m", module->name},
                                       behind(words, module->rest + 1), std::move(environment));
        if (std::ranges::find(kLaunchers, file_name(program)) != kLaunchers.end())
            return agent_execution(bin, {program}, behind(words, 1), std::move(environment));
    }
    return {.places = process::program_candidates(program, path_of(environment)),
            .words = std::move(words),
            .environment = std::move(environment)};
}

Execution python_execution(const std::string& bin, const std::string& name,
                           const std::vector<std::string>& words, Environment environment,
                           std::int64_t pid) {
    std::vector<std::string> places = others_than_ours(name, environment, pid);
    if (name == "python")
        std::ranges::move(others_than_ours("python3", environment, pid),
                          std::back_inserter(places));
    const auto next = std::ranges::find_if(places, is_program);
    if (const auto module = find_launcher_module(words); module && next != places.end())
        return agent_execution(bin, {*next, "-m", module->name}, behind(words, module->rest),
                               std::move(environment));
    if (next == places.end() || is_interpreter(*next))
        remove_variable(environment, kWentTo);
    else
        set_variable(environment, kWentTo, std::to_string(pid) + ' ' + *next);
    Execution made{.places = std::move(places),
                   .words = {name},
                   .called_by_place = true,
                   .environment = std::move(environment)};
    std::ranges::copy(words, std::back_inserter(made.words));
    return made;
}

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> made;
    // execve() does not write to them.
    for (const std::string& text : texts) made.push_back(const_cast<char*>(text.c_str()));
    made.push_back(nullptr);
    return made;
}

/// Where execvp() continues with the next folder.
bool looks_further(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
        case EACCES:
        case ESTALE:
        case ENODEV:
        case ETIMEDOUT:
            return true;
        default:
            return false;
    }
}

}  // namespace

int execute(const Execution& execution) {
    std::vector<char*> words = pointers_to(execution.words);
    const std::vector<char*> environment = pointers_to(execution.environment);
    int telling = ENOENT;
    for (const std::string& place : execution.places) {
        // A name without '/' would be looked up in PATH once more.
        std::string name = place.find('/') == place.npos ? "./" + place : place;
        if (execution.called_by_place) words.front() = name.data();
        ::execve(place.c_str(), words.data(), environment.data());
        if (!looks_further(errno)) return errno;
        if (errno == EACCES) telling = EACCES;
    }
    return telling;
}

StartFailure start_failure(std::string_view command, const Execution& execution, int error) {
    constexpr int kNotFound = 127;
    constexpr int kNotExecuted = 126;
    const process::ProgramFailure failure =
        process::diagnose_program(execution.places, command, error);
    std::string text = "muster-start: ";
    text += command;
    if (failure.fault == process::ProgramFault::kMissing) {
        text += ": not found";
        std::string_view before = "; looked for ";
        for (const std::string& place : execution.places) {
            if (place == command) continue;
            text += before;
            text += place;
            before = ", ";
        }
        return {kNotFound, text += '\n'};
    }
    (text += " can't be executed: ") += failure.detail;
    switch (failure.fault) {
        case process::ProgramFault::kInterpreterMissing:
            return {kNotFound, text += ", which is to run it, is missing\n"};
        case process::ProgramFault::kFormat:
            return {kNotExecuted, text +=
                                  " is no program of this machine, and has no first line "
                                  "that says what runs it (#!)\n"};
        default:
            ((text += ": ") += std::strerror(failure.error)) += '\n';
            return {kNotExecuted, std::move(text)};
    }
}

}  // namespace muster::pod_tools
