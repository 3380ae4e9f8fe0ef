#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/time/duration.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/simulate/play.h"
#include "cli/internal/simulate/simulation_input.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kSimulateHelp =
    R"(Plays jobs on simulated nodes in virtual time: shows in a moment what the operator would do.

Usage: muster simulate FILE... [FLAGS]   FILE may be - for standard input

FILE is an ordinary manifest, or a scenario: a file of jobs, pods' lives and faults, or the name of one
that comes with muster. Nothing runs: pods are bound, start, end and fail as the seed decides. Equal seeds
give equal runs. Prints a timeline, how each job ended and after how long, and every rule of our own that
was broken.

      --seed N               which run (default 1)
      --seeds N              N runs from that seed on; prints what broke, and of each job how often it ended
                             how, and the median, the 90th and the 99th percentile of its duration and of
                             its restarts
      --nodes N              simulated nodes (default 4, or what the scenario says)
      --faults FILE|NAME     what goes wrong: another scenario, without its jobs and times; 'help' lists
                             the names
      --duration DURATION    how long, in virtual time, as in 90s or 12h (default 3h)
      --trace                every change, what made it, and every fault
  -o, --output text|json     how to print

For manifests, as in 'muster run':
  -f, --filename FILE        another way to name a manifest; may be repeated
  -n, --namespace NS         for objects without one (default: "default")
      --replicas TYPE=N      as in Worker=4
      --set PATH=VALUE       set a field of every job, as in spec.runPolicy.backoffLimit=3
      --env NAME=VALUE       set a variable in every container
      --strict               unknown fields are errors, not warnings

Scenarios: calm, limits, lossy-api, conflicts, stale-caches, node-death, node-silence, evictions, crashes,
two-operators, election, clock-jumps, meddling, groups, launchers, fault-points, chaos, chaos-two, kinds,
elastic-pods and elastic-chaos (pods run agents of elastic jobs), elastic-jobs and elastic-jobs-chaos (and a pod
of each job its master), elastic (agents and masters alone)

Exit status: 0 when every job succeeded, or the scenario's rules held; 1 when a job failed; 2 when the
input is wrong; 3 when a rule was broken; 124 when a job had not ended in time.

Examples:
  muster simulate job.yaml --faults evictions --seed 7
  muster simulate job.yaml --nodes 100 --faults node-death --output json
  muster simulate job.yaml --replicas Worker=64 --faults node-death --seeds 200
  muster simulate chaos --seeds 1000
)";

int simulate(const SimulateOptions& options) {
    if (options.list_faults) {
        fmt::print("{}", fault_list());
        return 0;
    }
    const SimulationInput input = read_simulation_input(options);
    for (const manifest::Problem& problem : input.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(input.problems)) {
        fmt::print(stderr, "muster simulate: {}\n", manifest::count_problems(input.problems));
        return 2;
    }
    return play(options, input);
}

constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);

class SimulateVerb final : public VerbOf<SimulateOptions> {
  public:
    SimulateVerb() : VerbOf("simulate", kSimulateHelp) {}

    void declare(Flags& flags) override {
        files_.declare(flags, options_.files);
        adjustments_.declare(flags, options_.adjustments);
        flags.flag("--strict", options_.strict);
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
        options_.list_faults = options_.faults == "help" || options_.faults == "list";
        if (options_.list_faults) return std::nullopt;
        if (options_.files.empty()) return "name a manifest, a scenario, or - for standard input";
        if (options_.nodes && (*options_.nodes < 1 || *options_.nodes > 100'000))
            return fmt::format("--nodes wants a number from 1 to 100000, not {}", *options_.nodes);
        if (options_.seeds < 1) return "--seeds wants a number above 0";
        if (auto wrong = adjustments_.finish(options_.adjustments)) return wrong;
        options_.manifest_flags = adjustments_.words(options_.adjustments);
        if (options_.strict) options_.manifest_flags.emplace_back("--strict");
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
    AdjustmentFlags adjustments_;
    std::string duration_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> simulate_verb() { return std::make_unique<SimulateVerb>(); }

}  // namespace muster::cli
