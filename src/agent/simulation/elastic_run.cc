#include "agent/simulation/elastic_run.h"

#include <array>
#include <csignal>
#include <functional>
#include <utility>

#include "agent/simulation/elastic_world.h"
#include "base/fault.h"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using Node = ElasticWorld::Node;

/// After the last fault: until silence is noticed, a new master has given up who does not come, and
/// who waits to claim its slot has it.
constexpr Duration kBound = 45s;
constexpr Duration kEndBound = 15s;

/// One run.
class Run {
  public:
    Run(std::uint64_t seed, ElasticFaults faults)
        : plan_(seed, 0.2, 0.05), rng_(seed), faults_(faults), world_(loop_, options(seed)) {}

    ElasticRun go() {
        for (int i = 0; i < nodes_; ++i)
            world_.start_agent(
                world_.add_node({.local_size = size(),
                                 .slot = has_slots_ ? std::optional(i) : std::nullopt,
                                 .rack = rng_.chance(0.3) ? "r1" : "",
                                 .times = {.start = time(20ms), .stop = time(4s)}}));
        world_.start_master();
        loop_.advance(time(3s));
        for (int i = 0; i < faults_.count && is_well(); ++i) {
            loop_.advance(rng_.chance(0.4) ? time(20ms) : time(faults_.time * 2 / faults_.count));
            fault();
            check();
        }
        if (is_well()) recover();
        if (is_well()) end();
        ElasticRun run{.broken = world_.truth.broken(),
                       .trace = world_.truth.trace(),
                       .unseed = rng_.next(),
                       .faults = happened_,
                       .worlds = world_.truth.worlds()};
        world_.close();
        return run;
    }

  private:
    ElasticWorld::Options options(std::uint64_t seed) {
        nodes_ = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(faults_.most_nodes)));
        const int most = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(nodes_)));
        const int least = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most)));
        unit_ = most % 2 == 0 && least % 2 == 0 && rng_.chance(0.3) ? 2 : 1;
        most_ = most;
        has_slots_ = rng_.chance(0.3);
        same_size_ = rng_.chance(0.5);
        ElasticWorld::Options made{.job = {.membership = {.min_nodes = least,
                                                          .max_nodes = most,
                                                          .node_unit = unit_,
                                                          .last_call = time(10s)}},
                                   .seed = seed,
                                   .record_time = time(5ms)};
        // What has a limit is kept, and can be counted.
        for (master::Budget& budget : made.job.budgets) budget.incidents = 1000;
        return made;
    }
    int size() { return same_size_ ? 2 : 1 + static_cast<int>(rng_.below(3)); }
    Duration time(Duration most) {
        return Duration(
            static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1)));
    }
    Node& any_node() {
        return *std::next(world_.nodes.begin(),
                          static_cast<std::ptrdiff_t>(rng_.below(world_.nodes.size())));
    }
    bool is_well() const { return world_.truth.broken().empty(); }

    void fault() {
        using Fault = void (Run::*)();
        static constexpr std::array<std::pair<Fault, int>, 11> kFaults = {{
            {&Run::kill_worker, 6},
            {&Run::kill_agent, 4},
            {&Run::lose_node, 3},
            {&Run::kill_master, 3},
            {&Run::cut_cable, 3},
            {&Run::stand_still, 3},
            {&Run::be_late, 1},
            {&Run::heal_cable, 3},
            {&Run::repair, 6},
            {&Run::break_records, 1},
            {&Run::jump, 1},
        }};
        std::uint64_t all = 0;
        for (const auto& [what, weight] : kFaults) all += static_cast<std::uint64_t>(weight);
        auto drawn = static_cast<int>(rng_.below(all));
        for (const auto& [what, weight] : kFaults) {
            if (drawn < weight) return (this->*what)();
            drawn -= weight;
        }
    }

    void kill_worker() {
        Node& node = any_node();
        const int local =
            static_cast<int>(rng_.below(static_cast<std::uint64_t>(node.options.local_size)));
        const bool by_signal = rng_.chance(0.5);
        if (node.workers.end(local, by_signal ? std::nullopt : std::optional(1),
                             by_signal ? SIGKILL : 0))
            ++deaths_, ++happened_;
    }
    void kill_agent() {
        Node& node = any_node();
        if (node.agent == nullptr) return;
        world_.kill_agent(node);
        ++happened_;
        if (rng_.chance(0.5)) {
            loop_.advance(time(300ms));
            world_.start_agent(node);
        }
    }
    void lose_node() {
        Node& node = any_node();
        if (!node.has_power) return;
        world_.lose_node(node, rng_.chance(0.4));
        ++happened_;
    }
    void kill_master() {
        if (!world_.has_master()) return;
        world_.kill_master();
        ++happened_;
        if (rng_.chance(0.5)) {
            loop_.advance(time(2s));
            world_.start_master();
        }
    }
    void cut_cable() {
        any_node().cable.cut();
        ++happened_;
    }
    void stand_still() {
        const bool up = rng_.chance(0.6);
        any_node().cable.set(up, !up || rng_.chance(0.5));
        world_.truth.say("a cable stands still");
        ++happened_;
    }
    void be_late() { any_node().cable.delay = time(200ms); }
    void heal_cable() {
        Node& node = any_node();
        node.cable.set(false, false);
        node.cable.delay = {};
    }
    /// What is not there comes back.
    void repair() {
        Node& node = any_node();
        if (!node.has_power)
            world_.return_node(node);
        else if (node.agent == nullptr)
            world_.start_agent(node);
        if (!world_.has_master()) world_.start_master();
    }
    void break_records() {
        records_broken_ = !records_broken_;
        if (!records_broken_) return world_.records.set_faults({});
        world_.records.set_faults([this] {
            using Fault = master::MemoryRecords::Fault;
            return rng_.chance(0.5)   ? Fault::kNone
                   : rng_.chance(0.5) ? Fault::kFails
                                      : Fault::kLost;
        });
        ++happened_;
    }
    void jump() { loop_.clock.skew_wall(time(2h) - 1h); }

    /// A budget has no limit here, so each death may be charged, and nothing else.
    void check() {
        const auto& incidents = world_.records.kept().incidents;
        int charged = 0;
        for (const auto& incident : incidents)
            charged += incident.charge == master::Charge::kWorker;
        if (charged > deaths_) world_.truth.wrong("more was charged than has died");
    }

    void recover() {
        world_.truth.say("all that broke is repaired");
        world_.records.set_faults({});
        for (Node& node : world_.nodes) {
            node.cable.set(false, false);
            node.cable.delay = {};
            if (!node.has_power)
                world_.return_node(node);
            else if (node.agent == nullptr)
                world_.start_agent(node);
        }
        if (!world_.has_master()) world_.start_master();
        loop_.advance(kBound);
        if (!world_.has_master()) {
            // Its claim was lost when the records failed.
            world_.start_master();
            loop_.advance(kBound);
        }
        check();
        // Nodes hold the largest world that may be; which of them, if there are spares, is open.
        std::size_t in = 0;
        std::size_t workers = 0;
        for (const Node& node : world_.nodes) {
            if (node.workers.live() == 0) continue;
            ++in;
            workers += static_cast<std::size_t>(node.options.local_size);
        }
        const auto wanted = static_cast<std::size_t>(std::min(nodes_, most_) / unit_ * unit_);
        if (in != wanted || !world_.runs(workers))
            world_.truth.wrong(
                fmt::format("{} of {} nodes run after all was repaired", in, wanted));
        const std::size_t worlds = world_.truth.worlds();
        loop_.advance(30s);
        if (world_.truth.worlds() != worlds)
            world_.truth.wrong("healthy workers had to begin anew with no fault");
    }

    void end() {
        world_.finish();
        loop_.advance(kEndBound);
        if (!world_.verdict || !*world_.verdict ||
            (*world_.verdict)->kind != master::Verdict::Kind::kSucceeded)
            return world_.truth.wrong("the job has not succeeded");
        for (const Node& node : world_.nodes)
            if (!node.end || node.end->kind != AgentEnd::Kind::kSucceeded)
                return world_.truth.wrong(node.name + " does not know that the job has succeeded");
        if (world_.live_workers() > 0) world_.truth.wrong("workers outlive their job");
    }

    FaultPlan plan_;
    SimulatedLoop loop_;
    Rng rng_;
    ElasticFaults faults_;
    int nodes_ = 1;
    int most_ = 1;
    int unit_ = 1;
    bool has_slots_ = false;
    bool same_size_ = false;
    bool records_broken_ = false;
    int deaths_ = 0;
    int happened_ = 0;
    ElasticWorld world_;
};

}  // namespace

ElasticRun run_elastic(std::uint64_t seed, ElasticFaults faults) { return Run(seed, faults).go(); }

}  // namespace muster::agent
