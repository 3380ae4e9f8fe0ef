#include "cli/internal/simulate/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "base/shell_word.h"
#include "cli/internal/simulate/outcome_text.h"
#include "cli/internal/simulate/runs_summary.h"
#include "sim/world.h"

namespace muster::cli {

namespace {

constexpr int kBadInput = 2;

void print_violations(const sim::SimulationOutcome& outcome, std::size_t most) {
    for (std::size_t i = 0; i < std::min(most, outcome.violations.size()); ++i) {
        const sim::Violation& violation = outcome.violations[i];
        fmt::print("  at {:.3f} s: {}: {}\n", seconds(violation.at.time_since_epoch()),
                   violation.invariant, violation.what);
    }
    if (outcome.violations.size() > most)
        fmt::print("  and {} more\n", outcome.violations.size() - most);
}

int refused(const Error& error) {
    fmt::print(stderr, "muster simulate: {}\n", error.message());
    return kBadInput;
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

int play_one(const SimulateOptions& options, const SimulationInput& input) {
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
    const int status = exit_status(*outcome, input.is_scenario);
    if (!text) {
        json::object shown = to_json(*outcome, options.seed);
        shown["timeline"] = std::move(timeline);
        fmt::print("{}\n", json::serialize(shown));
        return status;
    }
    AgentsTotals agents;
    agents.add(*outcome);
    agents.print();
    for (const sim::JobOutcome& job : outcome->jobs) fmt::print("muster: {}\n", describe(job));
    fmt::print("muster: seed {}: {} changes, {} pods, {:g} s of virtual time, hash {:016x}\n",
               options.seed, outcome->changes, outcome->pods, seconds(outcome->virtual_time),
               outcome->hash);
    if (!outcome->violations.empty()) {
        fmt::print("muster: rules were broken:\n");
        print_violations(*outcome, 10);
        fmt::print("replay: {}\n", replay(options, options.seed));
    }
    return status;
}

/// Many runs, of which only what broke is told one by one. Prints as it goes: it may be a million.
class ManyRuns {
  public:
    ManyRuns(const SimulateOptions& options, const SimulationInput& input)
        : options_(options), input_(input), text_(options.output != OutputFormat::kJson) {}

    int play() {
        if (!text_) fmt::print("{{\"runs\":[");
        for (std::uint64_t i = 0; i < options_.seeds; ++i)
            if (const Result<void> played = play_seed(options_.seed + i); !played)
                return refused(played.error());
        if (text_)
            print_end();
        else
            fmt::print("\n],\"jobs\":{},\"passed\":{},\"failed\":{}}}\n",
                       json::serialize(summary_.to_json()), options_.seeds - broken_, broken_);
        return status_;
    }

  private:
    Result<void> play_seed(std::uint64_t seed) {
        TRY(const sim::SimulationOutcome outcome,
            sim::simulate(input_.scenario, {.seed = seed, .tell = {}}));
        // Every tenth seed runs twice: equal seeds must give equal hashes.
        std::uint64_t again = outcome.hash;
        if (seed % 10 == 0) {
            TRY(const sim::SimulationOutcome second,
                sim::simulate(input_.scenario, {.seed = seed, .tell = {}}));
            again = second.hash;
        }
        if (!input_.is_scenario) summary_.add(outcome);
        const bool good = outcome.violations.empty() && again == outcome.hash;
        if (!good) ++broken_;
        count(good ? exit_status(outcome, input_.is_scenario) : kRulesBroken);
        if (text_)
            tell(seed, outcome, again);
        else
            print_json(seed, outcome, again);
        return {};
    }

    /// The worst is what a script must know of: a broken rule, then a failure.
    void count(int status) {
        const auto weight = [](int one) {
            return one == kRulesBroken ? 3 : one == 1 ? 2 : one == kNotEnded ? 1 : 0;
        };
        if (weight(status) > weight(status_)) status_ = status;
    }

    void tell(std::uint64_t seed, const sim::SimulationOutcome& outcome, std::uint64_t again) {
        agents_.add(outcome);
        if (!outcome.violations.empty()) {
            fmt::print("seed {}:\n", seed);
            print_violations(outcome, 3);
        }
        if (again != outcome.hash)
            fmt::print("seed {}: two runs differ: {:016x} and {:016x}\n", seed, outcome.hash,
                       again);
        if (!outcome.violations.empty() || again != outcome.hash)
            fmt::print("replay: {}\n", replay(options_, seed));
    }

    void print_json(std::uint64_t seed, const sim::SimulationOutcome& outcome,
                    std::uint64_t again) {
        json::object run = to_json(outcome, seed);
        if (again != outcome.hash) run["hashOfSecondRun"] = fmt::format("{:016x}", again);
        fmt::print("{}\n{}", seed == options_.seed ? "" : ",", json::serialize(run));
    }

    void print_end() const {
        agents_.print();
        fmt::print("{}", summary_.text());
        fmt::print("{} passed, {} failed\n", options_.seeds - broken_, broken_);
    }

    const SimulateOptions& options_;
    const SimulationInput& input_;
    bool text_;
    std::uint64_t broken_ = 0;
    int status_ = 0;
    AgentsTotals agents_;
    RunsSummary summary_;
};

}  // namespace

std::string replay(const SimulateOptions& options, std::uint64_t seed) {
    std::string text = "muster simulate";
    for (const std::string& file : options.files) text += " " + shell_word(file);
    for (const std::string& flag : options.manifest_flags) text += " " + shell_word(flag);
    if (options.nodes) text += fmt::format(" --nodes {}", *options.nodes);
    if (!options.faults.empty()) text += " --faults " + shell_word(options.faults);
    if (options.duration)
        text +=
            fmt::format(" --duration {}ms",
                        std::chrono::floor<std::chrono::milliseconds>(*options.duration).count());
    return text + fmt::format(" --seed {} --trace", seed);
}

int play(const SimulateOptions& options, const SimulationInput& input) {
    return options.seeds > 1 ? ManyRuns(options, input).play() : play_one(options, input);
}

}  // namespace muster::cli
