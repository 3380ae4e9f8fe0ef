#include "muster_run/muster_run.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <variant>

#include "base/log.h"
#include "base/rng.h"
#include "launch/plan.h"
#include "muster_run/hosting/new_token.h"
#include "muster_run/node/launcher_python.h"
#include "muster_run/node/node_facts.h"
#include "muster_run/session.h"
#include "process/core_dumps.h"

namespace muster::run {
namespace {

/// argparse's, which scripts know.
constexpr int kRefused = 2;

void say(launch::LaunchCommand command, std::string_view text) {
    fmt::print(stderr, "{}: {}\n", to_string(command), text);
}

std::string_view word_of(log::Level level) {
    switch (level) {
        case log::Level::kWarning:
            return "warning: ";
        case log::Level::kError:
            return "error: ";
        default:
            return "";
    }
}

int refuse(launch::LaunchCommand command, const Error& error) {
    say(command, error.message());
    for (const Cause& cause : error.causes()) say(command, cause.message);
    return kRefused;
}

Result<launch::LaunchPlan> plan_of(const launch::LaunchFlags& flags,
                                   const launch::Variables& variables,
                                   const std::string& in_place_of) {
    launch::LaunchMachine machine;
    machine.devices = devices_here(variables);
    machine.python = python_of(in_place_of, variables);
    if (machine.python.empty()) machine.python = python_here(variables);
    Rng rng = Rng::from_system();
    machine.fresh_id = rng.uuid();
    return launch::make_launch_plan(flags, variables, machine);
}

Result<void> check_files(const launch::LaunchPlan& plan, const launch::Variables& variables) {
    if (const auto file = launch::file_to_check(plan.command))
        return launch::check_command(plan.command, facts_of(*file, variables));
    return {};
}

}  // namespace

int muster_run(launch::LaunchCommand command, const std::vector<std::string>& arguments,
               launch::Variables variables, const std::string& in_place_of) {
    const rlim_t core_bytes = process::forbid_core_dumps();
    log::set_sink([command](log::Level level, std::string_view line) {
        say(command, fmt::format("{}{}", word_of(level), line));
    });
    auto parsed = launch::parse_launch_flags(command, arguments, variables);
    if (!parsed) return refuse(command, parsed.error());
    if (const auto* print = std::get_if<launch::LaunchPrint>(&*parsed)) {
        fmt::print("{}", *print == launch::LaunchPrint::kHelp
                             ? launch::launch_help(command)
                             : fmt::format("{} {}\n", to_string(command), MUSTER_VERSION));
        return 0;
    }
    const auto& flags = std::get<launch::LaunchFlags>(*parsed);
    auto plan = plan_of(flags, variables, in_place_of);
    if (!plan) return refuse(command, plan.error());
    if (flags.on(launch::Flag::kPrintPlan)) {
        fmt::print("{}\n", launch::to_json(*plan));
        return 0;
    }
    if (auto checked = check_files(*plan, variables); !checked)
        return refuse(command, checked.error());
    for (const launch::LaunchNotice& notice : plan->notices)
        if (log::enabled(notice.level))
            say(command, fmt::format("{}{}", word_of(notice.level), notice.text));
    // Who asks for a check wants to read what it found, also when all is well.
    if (plan->node_check != launch::NodeCheckMode::kNone && !log::enabled(log::Level::kInfo))
        log::set_level(log::Level::kInfo);
    if (plan->token_file == kNewToken) {
        const auto told = hand_out_new_token(flags, *plan, variables);
        if (!told) return refuse(command, told.error());
        if (!told->empty()) say(command, *told);
    }
    return run_session(*std::move(plan), std::move(variables), core_bytes);
}

launch::Variables variables_of(char** environment) {
    launch::Variables variables;
    for (char** one = environment; *one != nullptr; ++one) {
        const std::string_view entry(*one);
        const std::size_t equals = entry.find('=');
        if (equals != std::string_view::npos)
            variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return variables;
}

namespace {

/// As it was called, since /proc may be missing.
std::string own_link() {
    const auto* const path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return path == nullptr ? std::string() : std::string(path);
}

}  // namespace

std::optional<int> run_by_name(int argc, char** argv, char** environment) {
    if (argc < 1) return std::nullopt;
    const std::filesystem::path program(argv[0]);
    const launch::LaunchCommand command = launch::launch_command(argv[0]);
    const launch::Variables variables = variables_of(environment);
    if (program.filename() == to_string(command)) {
        const bool torchs = command != launch::LaunchCommand::kMusterRun;
        return muster_run(
            command, {argv + 1, argv + argc}, variables,
            torchs ? launcher_behind(own_link(), program.filename(), variables) : std::string());
    }
    const std::string_view verb = argc < 2 ? "" : argv[1];
    if (verb == "muster-run") return muster_run(command, {argv + 2, argv + argc}, variables);
    if (verb != "muster-run-for" || argc < 3) return std::nullopt;
    const std::string_view option = argc < 5 ? "" : argv[3];
    if (const auto module = option == "-m" ? launch::launch_module(argv[4]) : std::nullopt)
        return muster_run(*module, {argv + 5, argv + argc}, variables, argv[2]);
    // Its defaults differ from those of the others.
    const bool dlrovers = launch::launch_command(argv[2]) == launch::LaunchCommand::kDlroverRun;
    return muster_run(dlrovers ? launch::LaunchCommand::kDlroverRun : command,
                      {argv + 3, argv + argc}, variables, argv[2]);
}

}  // namespace muster::run
