#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

#include "cli/internal/simulate/simulation_input.h"
#include "cli/internal/verbs/verbs.h"
#include "sim/world.h"

namespace muster::cli {

namespace {

/// The promises of the simulation do not hold: no fault of the job's.
constexpr int kRulesBroken = 3;
constexpr int kNotEnded = 124;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

int exit_status(const sim::SimulationOutcome& outcome, bool scenario) {
    if (!outcome.violations.empty()) return kRulesBroken;
    // In a scenario jobs fail on purpose.
    if (scenario) return 0;
    int status = 0;
    for (const sim::JobOutcome& job : outcome.jobs) {
        if (job.deleted || job.state == "Succeeded") continue;
        if (job.state == "Failed")
            status = 1;
        else if (status == 0)
            status = kNotEnded;
    }
    return status;
}

std::string describe(const sim::JobOutcome& job) {
    std::string text = fmt::format("{} {}/{} ", job.kind, job.namespace_, job.name);
    if (job.deleted) return text + "was deleted";
    text += job.state.empty() ? "shows nothing" : job.state;
    if (job.restarts > 0)
        text += fmt::format(", {} restart{}", job.restarts, job.restarts == 1 ? "" : "s");
    return job.message.empty() ? text : fmt::format("{} ({})", text, job.message);
}

std::string replay(const SimulateOptions& options, std::uint64_t seed) {
    std::string text = fmt::format("muster simulate {}", fmt::join(options.files, " "));
    if (options.nodes) text += fmt::format(" --nodes {}", *options.nodes);
    if (!options.faults.empty()) text += " --faults " + options.faults;
    if (options.duration)
        text +=
            fmt::format(" --duration {}ms",
                        std::chrono::floor<std::chrono::milliseconds>(*options.duration).count());
    return text + fmt::format(" --seed {} --trace", seed);
}

void print_violations(const sim::SimulationOutcome& outcome, std::size_t most) {
    for (std::size_t i = 0; i < std::min(most, outcome.violations.size()); ++i) {
        const sim::Violation& violation = outcome.violations[i];
        fmt::print("  at {:.3f} s: {}: {}\n", seconds(violation.at.time_since_epoch()),
                   violation.invariant, violation.what);
    }
    if (outcome.violations.size() > most)
        fmt::print("  and {} more\n", outcome.violations.size() - most);
}

json::object to_json(const sim::SimulationOutcome& outcome, std::uint64_t seed,
                     json::array timeline) {
    json::array jobs;
    for (const sim::JobOutcome& job : outcome.jobs)
        jobs.push_back(json::object{{"kind", job.kind},
                                    {"namespace", job.namespace_},
                                    {"name", job.name},
                                    {"state", job.state},
                                    {"message", job.message},
                                    {"deleted", job.deleted},
                                    {"restarts", job.restarts},
                                    {"completionTime", job.completion_time}});
    json::array violations;
    for (const sim::Violation& violation : outcome.violations)
        violations.push_back(json::object{{"atSeconds", seconds(violation.at.time_since_epoch())},
                                          {"invariant", violation.invariant},
                                          {"what", violation.what}});
    return {{"seed", seed},
            {"hash", fmt::format("{:016x}", outcome.hash)},
            {"changes", outcome.changes},
            {"pods", outcome.pods},
            {"virtualSeconds", seconds(outcome.virtual_time)},
            {"jobs", std::move(jobs)},
            {"violations", std::move(violations)},
            {"timeline", std::move(timeline)}};
}

int refused(const Error& error) {
    fmt::print(stderr, "muster simulate: {}\n", error.message());
    return 2;
}

int simulate_one(const SimulateOptions& options, const SimulationInput& input) {
    json::array timeline;
    const bool text = options.output != OutputFormat::kJson;
    sim::SimulationOptions how;
    how.seed = options.seed;
    how.tell = [&](const sim::HistoryLine& line) {
        if (!options.trace && line.detail == sim::HistoryLine::Detail::kTrace) return;
        if (text)
            fmt::print("{}\n", sim::to_string(line));
        else
            timeline.push_back(json::object{{"atSeconds", seconds(line.at.time_since_epoch())},
                                            {"who", line.who},
                                            {"what", line.what}});
    };
    Result<sim::SimulationOutcome> outcome = sim::simulate(input.scenario, how);
    if (!outcome) return refused(outcome.error());
    if (!text) {
        fmt::print("{}\n", json::serialize(to_json(*outcome, options.seed, std::move(timeline))));
        return exit_status(*outcome, input.is_scenario);
    }
    for (const sim::JobOutcome& job : outcome->jobs) fmt::print("muster: {}\n", describe(job));
    fmt::print("muster: seed {}: {} changes, {} pods, {:.0f} s of virtual time, hash {:016x}\n",
               options.seed, outcome->changes, outcome->pods, seconds(outcome->virtual_time),
               outcome->hash);
    if (!outcome->violations.empty()) {
        fmt::print("muster: rules of the operator were broken:\n");
        print_violations(*outcome, 10);
        fmt::print("replay: {}\n", replay(options, options.seed));
    }
    return exit_status(*outcome, input.is_scenario);
}

/// Every tenth seed runs twice: equal seeds must give equal hashes.
int simulate_many(const SimulateOptions& options, const SimulationInput& input) {
    std::uint64_t failed = 0;
    for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
        Result<sim::SimulationOutcome> outcome =
            sim::simulate(input.scenario, {.seed = seed, .tell = {}});
        if (!outcome) return refused(outcome.error());
        bool good = outcome->violations.empty();
        if (!good) {
            fmt::print("seed {}:\n", seed);
            print_violations(*outcome, 3);
        }
        if (seed % 10 == 0) {
            const auto again = sim::simulate(input.scenario, {.seed = seed, .tell = {}});
            if (again->hash != outcome->hash) {
                fmt::print("seed {}: two runs differ: {:016x} and {:016x}\n", seed, outcome->hash,
                           again->hash);
                good = false;
            }
        }
        if (!good) {
            ++failed;
            fmt::print("replay: {}\n", replay(options, seed));
        }
    }
    fmt::print("{} passed, {} failed\n", options.seeds - failed, failed);
    return failed == 0 ? 0 : kRulesBroken;
}

}  // namespace

int simulate(const SimulateOptions& options) {
    const SimulationInput input = read_simulation_input(options);
    for (const manifest::Problem& problem : input.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(input.problems)) {
        fmt::print(stderr, "muster simulate: {}\n", manifest::count_problems(input.problems));
        return 2;
    }
    return options.seeds > 1 ? simulate_many(options, input) : simulate_one(options, input);
}

}  // namespace muster::cli
