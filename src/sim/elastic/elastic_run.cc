#include "sim/elastic/elastic_run.h"

#include <utility>

#include "base/fault.h"
#include "sim/elastic/fault_injector.h"

namespace muster::sim::elastic {
namespace {

using namespace std::chrono_literals;
using Node = ElasticWorld::Node;

/// After the last fault: until silence is noticed, a new master has given up who does not come, and
/// who waits to claim its slot has it.
constexpr Duration kBound = 45s;
/// Longer than any of these times: what a fault has left behind shows by then.
constexpr Duration kCalm = 20s;
constexpr Duration kEndBound = 15s;
constexpr Duration kLook = 250ms;

/// One run.
class Run {
  public:
    Run(std::uint64_t seed, ElasticShape shape)
        : plan_(seed, 0.2, 0.05),
          rng_(seed),
          shape_(shape),
          world_(loop_, options(seed)),
          fault_injector_(world_, rng_, program_fails_) {}

    ElasticRun go() {
        for (int i = 0; i < nodes_; ++i)
            world_.start_agent(
                world_.add_node({.local_size = size(),
                                 .slot = has_slots_ ? std::optional(i) : std::nullopt,
                                 .rack = rng_.chance(0.3) ? "r1" : "",
                                 .times = {.start = time(20ms), .stop = time(4s)}}));
        world_.start_master();
        loop_.advance(time(3s));
        // What breaks after a recovery finds other things as they are than what breaks at first.
        const int rounds = rng_.chance(0.25) ? 2 : 1;
        for (int i = 0; i < rounds && goes_on(); ++i) {
            disturb(shape_.faults / rounds);
            if (goes_on()) recover();
        }
        if (goes_on()) finish();
        if (is_well()) end();
        ElasticRun run{
            .violations = world_.ledger.violations(),
            .lines = world_.lines(),
            .unseed = rng_.next(),
            .end = loop_.clock.now(),
            .faults = fault_injector_.happened(),
            .worlds = world_.invariants.worlds(),
            .recovery = recovery_,
            .failed = world_.invariants.end() &&
                      world_.invariants.end()->kind == job_protocol::Verdict::Kind::kFailed};
        world_.close();
        return run;
    }

  private:
    ElasticWorld::Options options(std::uint64_t seed) {
        const auto between = [&](int least, int most) {
            return least +
                   static_cast<int>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
        };
        nodes_ = between(shape_.least_nodes, shape_.most_nodes);
        most_ = between(std::max(1, shape_.least_nodes * 9 / 10), nodes_);
        const int least = between(1, most_);
        unit_ = most_ % 2 == 0 && least % 2 == 0 && rng_.chance(0.3) ? 2 : 1;
        has_slots_ = rng_.chance(0.3);
        same_size_ = rng_.chance(0.5);
        program_fails_ = rng_.chance(0.25);
        ElasticWorld::Options made{.job = {.membership = {.min_nodes = least,
                                                          .max_nodes = most_,
                                                          .node_unit = unit_,
                                                          .last_call = time(10s)}},
                                   // In a process of its own, as on a cluster.
                                   .terms_of_nodes = seed % 3 == 1,
                                   .seed = seed,
                                   .record_time = time(5ms)};
        // What has a limit is kept, and can be counted.
        for (job_protocol::Budget& budget : made.job.budgets) budget.incidents = 1000;
        if (program_fails_)
            for (job_protocol::Budget& budget : made.job.budgets) budget.incidents = between(0, 12);
        return made;
    }
    int size() { return same_size_ ? 2 : 1 + static_cast<int>(rng_.below(3)); }
    Duration time(Duration most) {
        return Duration(
            static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1)));
    }
    bool is_well() const { return world_.ledger.violations().empty(); }
    bool goes_on() const { return is_well() && !world_.invariants.end(); }

    void disturb(int count) {
        for (int i = 0; i < count && goes_on(); ++i) {
            // At one instant, soon after each other, or with time to recover.
            if (!rng_.chance(0.15))
                loop_.advance(rng_.chance(0.4) ? time(20ms) : time(shape_.time * 2 / count));
            if (program_fails_ && rng_.chance(0.3)) step();
            fault_injector_.one();
        }
    }
    void step() {
        for (Node& node : world_.nodes) node.workers.step();
    }

    /// Nodes hold the largest world that may be; which of them, if there are standby nodes, is open.
    bool all_run() const {
        int in = 0;
        std::size_t workers = 0;
        for (const Node& node : world_.nodes) {
            if (node.workers.live() == 0) continue;
            ++in;
            workers += static_cast<std::size_t>(node.options.local_size);
        }
        return in == std::min(nodes_, most_) / unit_ * unit_ && world_.runs(workers);
    }
    void look_again() {
        loop_.advance(kLook);
        // An agent that was told to leave before ends only now.
        fault_injector_.all_come_back();
    }

    /// All run within the bound, and then go on: what a fault has left behind shows by then.
    void recover() {
        fault_injector_.heal_all();
        const Instant from = loop_.clock.now();
        Instant well = Instant::max();  ///< since then
        std::size_t worlds = 0;
        while (goes_on() && loop_.clock.now() < std::min(well, from + kBound) + kCalm) {
            look_again();
            // Its claim was lost when the records failed.
            if (!world_.has_master() && !world_.invariants.end()) world_.start_master();
            if (!all_run()) {
                well = Instant::max();
            } else if (well == Instant::max() || worlds != world_.invariants.worlds()) {
                well = loop_.clock.now();
                worlds = world_.invariants.worlds();
            }
        }
        if (!goes_on()) return;
        if (well > from + kBound)
            return world_.invariants.wrong(
                "recovery",
                fmt::format("{} workers run after all was mended, and not in one world for long",
                            world_.live_workers()));
        recovery_ = std::max(recovery_, well - from);
    }

    /// The program's work is done: everywhere at once, or here and there while other things fail.
    void finish() {
        if (rng_.chance(0.4)) {
            for (Node& node : world_.nodes) {
                node.workers.finish();
                loop_.advance(rng_.chance(0.5) ? time(20ms) : time(1s));
                if (rng_.chance(0.5)) fault_injector_.one();
                if (!goes_on()) break;
            }
        }
        world_.finish();
        if (rng_.chance(0.3)) loop_.advance(time(20ms)), fault_injector_.one();
    }

    bool all_know() const {
        return std::ranges::all_of(world_.nodes, [](const Node& node) {
            return node.end && (node.end->kind == agent::AgentEnd::Kind::kSucceeded ||
                                node.end->kind == agent::AgentEnd::Kind::kFailed);
        });
    }

    void end() {
        fault_injector_.heal_all();
        // A master that could not reach all of them waits for some time; then they need another.
        for (int masters = 0; masters < 3 && is_well() && !all_know(); ++masters) {
            if (!world_.has_master()) world_.start_master();
            const Instant until = loop_.clock.now() + (masters == 0 ? kBound : kEndBound);
            while (is_well() && !all_know() && loop_.clock.now() < until) look_again();
        }
        if (!is_well()) return;
        for (const Node& node : world_.nodes)
            if (!node.end)
                return world_.invariants.wrong("recovery",
                                               node.name + " does not know of the job's end");
        if (!program_fails_ &&
            world_.invariants.end()->kind != job_protocol::Verdict::Kind::kSucceeded)
            world_.invariants.wrong("verdict", "the job has not succeeded");
        if (world_.live_workers() > 0)
            world_.invariants.wrong("workers-end", "workers outlive their job");
    }

    FaultPlan plan_;
    SimulatedLoop loop_;
    Rng rng_;
    ElasticShape shape_;
    int nodes_ = 1;
    int most_ = 1;
    int unit_ = 1;
    bool has_slots_ = false;
    bool same_size_ = false;
    bool program_fails_ = false;
    Duration recovery_ = {};
    ElasticWorld world_;
    FaultInjector fault_injector_;
};

}  // namespace

ElasticRun run_elastic(std::uint64_t seed, ElasticShape shape) { return Run(seed, shape).go(); }

}  // namespace muster::sim::elastic
