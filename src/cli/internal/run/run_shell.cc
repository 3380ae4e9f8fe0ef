#include "cli/internal/run/run_shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/visible_text.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/run/submission.h"
#include "manifest/planned_objects.h"

namespace muster::cli {

namespace {

void print_problems(const std::vector<manifest::Problem>& problems) {
    for (const manifest::Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
}

int refuse(const std::vector<manifest::Problem>& problems) {
    fmt::print(stderr, "muster run: {}; nothing was started\n", manifest::count_problems(problems));
    return 2;
}

void require_workload(Prepared& prepared) {
    if (std::ranges::any_of(prepared.objects, is_workload)) return;
    if (manifest::has_errors(prepared.problems)) return;
    constexpr const char* kNothing =
        "the manifest has no job and no pod, so there is nothing to run";
    if (!prepared.objects.empty()) {
        prepared.problems.push_back(prepared.objects.front().document.problem(
            manifest::Severity::kError, "kind", kNothing));
        return;
    }
    // All of it was passed over.
    manifest::Problem problem;
    problem.source = prepared.problems.empty() ? "" : prepared.problems.front().source;
    problem.message = kNothing;
    prepared.problems.push_back(std::move(problem));
}

}  // namespace

int fail_run(const Error& error) {
    fmt::print(stderr, "muster run: {}\n", visible_text(error.message()));
    return 1;
}

std::optional<int> end_before_start(const RunOptions& options, Prepared& prepared) {
    require_workload(prepared);
    print_problems(prepared.problems);
    if (manifest::has_errors(prepared.problems)) return refuse(prepared.problems);
    if (!options.dry_run) return std::nullopt;
    Result<std::vector<json::value>> planned = manifest::planned_objects(prepared.objects);
    if (!planned) return fail_run(planned.error());
    print_exact(print_objects(*planned, options.output));
    return 0;
}

std::optional<int> end_for_own_tmp(const Prepared& prepared) {
    print_problems(prepared.problems_with_own_tmp);
    if (!manifest::has_errors(prepared.problems_with_own_tmp)) return std::nullopt;
    return refuse(prepared.problems_with_own_tmp);
}

void give_names(std::vector<manifest::CheckedObject>& objects, Rng& rng) {
    // As API servers choose them: without vowels and what looks alike.
    constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    constexpr int kLength = 5;
    for (manifest::CheckedObject& object : objects) {
        if (!object.name.empty() || !object.job) continue;
        object.name = object.job->metadata.generate_name;
        for (int i = 0; i < kLength; ++i) object.name += kLetters[rng.below(kLetters.size())];
        object.job->metadata.name = object.name;
        object.document.object.at("metadata").get_object()["name"] = object.name;
    }
}

Result<void> make_logs_dir(const RunOptions& options) {
    if (options.logs_dir.empty()) return {};
    std::error_code failed;
    std::filesystem::create_directories(options.logs_dir, failed);
    if (failed) return system_error("making the directory " + options.logs_dir, failed.value());
    return {};
}

ConsoleOptions console_of_run(const RunOptions& options, const control_plane::Caller& caller) {
    ConsoleOptions shown = console_for(options.output != OutputFormat::kNone, options.quiet,
                                       !caller.variable("NO_COLOR").empty());
    shown.raw = options.raw;
    return shown;
}

RunSession::Options session_options(const RunOptions& options) {
    return {.logs_dir = options.logs_dir,
            .timeout = options.timeout,
            .collect_objects = options.output != OutputFormat::kNone,
            .give_up_after = options.give_up_after,
            .on_cluster = options.cluster.has_value()};
}

Task<void> watch_signals(asio::signal_set& signals, RunSession& session) {
    for (;;) {
        int signal = co_await signals.async_wait(asio::use_awaitable);
        session.stop(signal == SIGINT ? RunSession::Stop::kInterrupt
                                      : RunSession::Stop::kTerminate);
    }
}

int end_run(const RunOptions& options, const RunSession& session, int status) {
    print_problems(session.problems());
    if (status == 2 && !session.problems().empty()) return refuse(session.problems());
    if (options.output != OutputFormat::kNone)
        print_exact(print_objects(session.final_objects(), options.output));
    return status;
}

}  // namespace muster::cli
