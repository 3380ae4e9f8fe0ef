#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <map>
#include <string>

#include "base/time/duration.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/simulate/simulation_input.h"
#include "cli/internal/verbs/verbs.h"
#include "sim/world.h"

namespace muster::cli {

namespace {

constexpr std::string_view kSimulateHelp =
    R"(Plays jobs on simulated nodes in virtual time: shows in a moment what the operator would do.

Usage: muster simulate FILE... [FLAGS]   FILE may be - for standard input

FILE is an ordinary manifest, or a scenario: a file of jobs, pods' lives and faults, or the name of one
that comes with muster. Nothing runs: pods are bound, start, end and fail as the seed decides. Equal seeds
give equal runs. Prints a timeline, how each job ended, and every rule of our own that was broken.

      --seed N               which run (default 1)
      --seeds N              N runs from that seed on; prints only what broke
      --nodes N              simulated nodes (default 4, or what the scenario says)
      --faults FILE|NAME     what goes wrong: another scenario, without its jobs and times
      --duration DURATION    how long, in virtual time, as in 90s or 12h (default 3h)
      --trace                every change, what made it, and every fault
  -o, --output text|json     how to print

Scenarios: calm, limits, lossy-api, conflicts, stale-caches, node-death, node-silence, evictions, crashes,
two-operators, election, clock-jumps, meddling, groups, launchers, fault-points, chaos, chaos-two, kinds,
elastic-pods and elastic-chaos (pods run agents of elastic jobs), elastic (agents and masters alone)

Exit status: 0 when every job succeeded, or the scenario's rules held; 1 when a job failed; 2 when the
input is wrong; 3 when a rule was broken; 124 when a job had not ended in time.

Examples:
  muster simulate job.yaml --faults evictions --seed 7
  muster simulate job.yaml --nodes 100 --faults node-death --output json
  muster simulate chaos --seeds 1000
)";

/// The invariants of the simulation were violated; that is not the job's fault.
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
    json::object whole{{"seed", seed},
                       {"hash", fmt::format("{:016x}", outcome.hash)},
                       {"changes", outcome.changes},
                       {"pods", outcome.pods},
                       {"virtualSeconds", seconds(outcome.virtual_time)},
                       {"jobs", std::move(jobs)},
                       {"violations", std::move(violations)},
                       {"timeline", std::move(timeline)}};
    if (outcome.agents) {
        json::object faults;
        for (const auto& [kind, times] : outcome.agents->faults) faults[kind] = times;
        whole["agents"] = {{"faults", std::move(faults)},
                           {"worlds", outcome.agents->worlds},
                           {"longestRecoverySeconds", seconds(outcome.agents->recovery)},
                           {"failed", outcome.agents->failed}};
    }
    return whole;
}

int refused(const Error& error) {
    fmt::print(stderr, "muster simulate: {}\n", error.message());
    return 2;
}

/// What there was of the elastic layer in all runs.
class AgentsTotals {
  public:
    void add(const sim::SimulationOutcome& outcome) {
        if (!outcome.agents) return;
        any_ = true;
        for (const auto& [kind, times] : outcome.agents->faults) {
            of_kind_[kind] += times;
            faults_ += times;
        }
        worlds_ += outcome.agents->worlds;
        failed_ += outcome.agents->failed ? 1 : 0;
        recovery_ = std::max(recovery_, outcome.agents->recovery);
    }
    void print() const {
        if (!any_) return;
        for (const auto& [kind, times] : of_kind_) fmt::print("{:8} {}\n", times, kind);
        fmt::print(
            "{} faults, {} worlds, {} jobs failed by their budgets, {:.1f} s to the longest "
            "recovery\n",
            faults_, worlds_, failed_, seconds(recovery_));
    }

  private:
    bool any_ = false;
    std::map<std::string, int> of_kind_;
    int faults_ = 0;
    std::size_t worlds_ = 0;
    int failed_ = 0;
    Duration recovery_{};
};

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
    AgentsTotals agents;
    agents.add(*outcome);
    agents.print();
    for (const sim::JobOutcome& job : outcome->jobs) fmt::print("muster: {}\n", describe(job));
    fmt::print("muster: seed {}: {} changes, {} pods, {:.0f} s of virtual time, hash {:016x}\n",
               options.seed, outcome->changes, outcome->pods, seconds(outcome->virtual_time),
               outcome->hash);
    if (!outcome->violations.empty()) {
        fmt::print("muster: rules were broken:\n");
        print_violations(*outcome, 10);
        fmt::print("replay: {}\n", replay(options, options.seed));
    }
    return exit_status(*outcome, input.is_scenario);
}

/// Every tenth seed runs twice: equal seeds must give equal hashes.
int simulate_many(const SimulateOptions& options, const SimulationInput& input) {
    std::uint64_t failed = 0;
    AgentsTotals agents;
    for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
        Result<sim::SimulationOutcome> outcome =
            sim::simulate(input.scenario, {.seed = seed, .tell = {}});
        if (!outcome) return refused(outcome.error());
        agents.add(*outcome);
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
    agents.print();
    fmt::print("{} passed, {} failed\n", options.seeds - failed, failed);
    return failed == 0 ? 0 : kRulesBroken;
}

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

constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);

class SimulateVerb final : public VerbOf<SimulateOptions> {
  public:
    SimulateVerb() : VerbOf("simulate", kSimulateHelp) {}

    void declare(Flags& flags) override {
        files_.declare(flags, options_.files);
        flags.value("--seed", options_.seed);
        flags.value("--seeds", options_.seeds);
        flags.value("--nodes", options_.nodes);
        flags.value("--faults", options_.faults);
        flags.value("--duration", duration_);
        flags.flag("--trace", options_.trace);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        files_.finish(options_.files);
        if (options_.files.empty()) return "name a manifest, a scenario, or - for standard input";
        if (options_.nodes && (*options_.nodes < 1 || *options_.nodes > 100'000))
            return fmt::format("--nodes wants a number from 1 to 100000, not {}", *options_.nodes);
        if (options_.seeds < 1) return "--seeds wants a number above 0";
        if (output_ == "json")
            options_.output = OutputFormat::kJson;
        else if (!output_.empty() && output_ != "text")
            return fmt::format("--output wants text or json, not \"{}\"", output_);
        if (duration_.empty()) return std::nullopt;
        options_.duration = parse_duration(duration_);
        if (!options_.duration || *options_.duration > kLongest)
            return fmt::format(
                "--duration wants a duration of a year at most, such as 90s or 1h30m, not \"{}\"",
                duration_);
        return std::nullopt;
    }
    int run() override { return simulate(options_); }

  private:
    FileFlags files_;
    std::string duration_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> simulate_verb() { return std::make_unique<SimulateVerb>(); }

}  // namespace muster::cli
