#include "sim/elastic/fault_injector.h"

#include <array>
#include <csignal>
#include <numeric>

namespace muster::sim::elastic {

using namespace std::chrono_literals;

Duration FaultInjector::time(Duration most) {
    return Duration(
        static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1)));
}

FaultInjector::Node& FaultInjector::any_node() {
    return *std::next(world_.nodes.begin(),
                      static_cast<std::ptrdiff_t>(rng_.below(world_.nodes.size())));
}

void FaultInjector::one() {
    struct Row {
        std::string_view name;
        int weight;
        bool (FaultInjector::*happens)();
        bool is_fault = true;
    };
    static constexpr std::array kRows = {
        Row{"workers killed", 12, &FaultInjector::kill_worker},
        Row{"agents killed", 8, &FaultInjector::kill_agent},
        Row{"nodes taken away", 2, &FaultInjector::leave},
        Row{"nodes lost", 6, &FaultInjector::lose_node},
        Row{"several nodes lost at once", 1, &FaultInjector::lose_several},
        Row{"masters killed", 6, &FaultInjector::kill_master},
        Row{"second masters", 1, &FaultInjector::second_master},
        Row{"connections cut", 4, &FaultInjector::cut_link},
        Row{"connections cut, and what was said comes late", 3, &FaultInjector::cut_late},
        Row{"connections cut, and one side does not know", 2, &FaultInjector::cut_half},
        Row{"partitions", 6, &FaultInjector::partition},
        Row{"delays", 3, &FaultInjector::slow_link},
        Row{"records fail", 2, &FaultInjector::lose_records},
        Row{"jumps of the calendar", 2, &FaultInjector::jump},
        Row{"links healed", 8, &FaultInjector::heal_link, false},
        Row{"records healed", 2, &FaultInjector::heal_records, false},
        Row{"what is gone comes back", 14, &FaultInjector::return_node, false},
    };
    static constexpr int kAll = std::accumulate(
        kRows.begin(), kRows.end(), 0, [](int sum, const Row& row) { return sum + row.weight; });
    auto drawn = static_cast<int>(rng_.below(kAll));
    for (const Row& row : kRows) {
        if (drawn < row.weight) {
            if ((this->*row.happens)() && row.is_fault) ++happened_[row.name];
            return;
        }
        drawn -= row.weight;
    }
}

// ---- workers, agents, nodes

SimulatedWorkers::Death FaultInjector::death() {
    if (rng_.chance(0.1)) return {.signal = SIGKILL, .out_of_memory = true};
    if (rng_.chance(0.5)) return {.signal = SIGKILL};
    SimulatedWorkers::Death death{.exit_code = 1};
    if (!program_fails_) return death;
    static constexpr std::array kErrors = {"", "ValueError: one", "ValueError: two",
                                           "ValueError: three", "ImportError: four"};
    death.error = kErrors.at(rng_.below(kErrors.size()));
    return death;
}

bool FaultInjector::kill_worker() {
    Node& node = any_node();
    const auto all = static_cast<std::uint64_t>(node.options.local_size);
    return node.workers.end(static_cast<int>(rng_.below(all)), death());
}

bool FaultInjector::kill_agent() {
    Node& node = any_node();
    if (node.agent == nullptr) return false;
    world_.kill_agent(node);
    if (rng_.chance(0.5)) {
        world_.loop.advance(time(300ms));
        if (node.agent == nullptr) world_.start_agent(node);
    }
    return true;
}

bool FaultInjector::leave() {
    Node& node = any_node();
    if (node.agent == nullptr) return false;
    world_.leave(node);
    // A call that is repeated over the next connection.
    if (rng_.chance(0.5)) {
        world_.loop.advance(time(20ms));
        node.link.cut();
    }
    return true;
}

bool FaultInjector::lose_node() {
    Node& node = any_node();
    if (!node.has_power) return false;
    world_.lose_node(node, rng_.chance(0.4));
    return true;
}

bool FaultInjector::lose_several() {
    const bool silent = rng_.chance(0.4);
    for (Node& node : world_.nodes)
        if (node.has_power && rng_.chance(0.4)) world_.lose_node(node, silent);
    return true;
}

bool FaultInjector::return_node() {
    bring_back(any_node());
    if (rng_.chance(0.1)) world_.kill_older_masters();
    if (!world_.has_master()) world_.start_master();
    return true;
}

/// Its agent that has heard of the job's end has done its work.
void FaultInjector::bring_back(Node& node) {
    if (node.agent != nullptr ||
        (node.end && (node.end->kind == agent::AgentEnd::Kind::kSucceeded ||
                      node.end->kind == agent::AgentEnd::Kind::kFailed)))
        return;
    if (node.has_power)
        world_.start_agent(node);
    else
        world_.return_node(node);
}

// ---- masters

bool FaultInjector::kill_master() {
    if (!world_.has_master()) return false;
    world_.kill_master();
    if (rng_.chance(0.5)) {
        world_.loop.advance(time(2s));
        world_.start_master();
    }
    return true;
}

bool FaultInjector::second_master() {
    if (!world_.has_master()) return false;
    world_.start_master();
    return true;
}

bool FaultInjector::lose_records() {
    using Fault = master::MemoryRecords::Fault;
    const bool fails = rng_.chance(0.6);
    world_.set_records(
        [this, fails] {
            return !fails || rng_.chance(0.5) ? Fault::kNone
                   : rng_.chance(0.5)         ? Fault::kFails
                                              : Fault::kLost;
        },
        fails ? world_.options.record_time : time(3s));
    return true;
}

bool FaultInjector::heal_records() {
    world_.heal_records();
    return true;
}

bool FaultInjector::jump() {
    world_.invariants.say("the calendar jumps");
    world_.loop.clock.skew_wall(time(2h) - 1h);
    return true;
}

// ---- the way between them

bool FaultInjector::cut_link() {
    Node& node = any_node();
    world_.invariants.say(node.name + ": its connection is cut");
    node.link.cut();
    return true;
}

bool FaultInjector::cut_late() {
    Node& node = any_node();
    const Duration later = rng_.chance(0.5) ? time(300ms) : time(20s);
    world_.invariants.say(node.name + ": its connection is cut, and what it has said comes late");
    node.link.cut_late(later);
    return true;
}

bool FaultInjector::cut_half() {
    Node& node = any_node();
    const bool by_node = rng_.chance(0.5);
    world_.invariants.say(fmt::format("{}: its connection is cut, and {} does not know", node.name,
                                      by_node ? "the master" : "the node"));
    node.link.cut(by_node ? SimulatedLink::Seen::kByNode : SimulatedLink::Seen::kByMaster);
    return true;
}

bool FaultInjector::partition() {
    Node& node = any_node();
    const auto [up, down] = draw_blocked_ways(rng_);
    world_.invariants.say(fmt::format("{}: nothing gets {}", node.name,
                                      up && down ? "through"
                                      : up       ? "out"
                                                 : "in"));
    node.link.set_partition(up, down);
    return true;
}

bool FaultInjector::slow_link() {
    Node& node = any_node();
    world_.invariants.say(node.name + ": its link is slow");
    node.link.set_delay(rng_.chance(0.7) ? time(200ms) : Duration(),
                        rng_.chance(0.7) ? time(200ms) : Duration());
    return true;
}

bool FaultInjector::heal_link() {
    Node& node = any_node();
    node.link.heal();
    return true;
}

void FaultInjector::all_come_back() {
    for (Node& node : world_.nodes) bring_back(node);
}

void FaultInjector::heal_all() {
    world_.invariants.say("all that broke is mended");
    world_.heal_records();
    world_.kill_older_masters();
    for (Node& node : world_.nodes) node.link.heal();
    all_come_back();
    if (!world_.has_master() && !world_.invariants.end()) world_.start_master();
}

}  // namespace muster::sim::elastic
