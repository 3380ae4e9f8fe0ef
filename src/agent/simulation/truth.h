#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/workers.h"
#include "base/clock.h"
#include "master/records.h"
#include "master/world.h"

namespace muster::agent {

/// What really happened in a simulated job, seen by nobody in it, and what must never happen.
class Truth {
  public:
    using Attempt = std::pair<master::Generation, int>;

    explicit Truth(const Clock& clock) : clock_(clock) {}

    void say(std::string what) {
        const auto ms =
            std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch());
        trace_.push_back(fmt::format("{:>9} ms  {}", ms.count(), std::move(what)));
    }
    void wrong(const std::string& what) {
        say("WRONG: " + what);
        if (broken_.empty()) broken_ = what;
    }

    static std::string name(const master::World& world) {
        return fmt::format("({},{})#{}", world.generation.epoch, world.generation.number,
                           world.restarts);
    }

    /// The store at an address is empty, and of that attempt.
    void store_began(const std::string& address, const master::World& world) {
        say(fmt::format("{}: the store is for {}", address, name(world)));
        if (static_cast<int>(world.members.size()) != world.nodes)
            wrong("a store is begun by somebody who does not know all members");
        stores_[address] = {world.generation, world.restarts};
    }
    /// Workers of a node begin, as members of that world.
    void began(const std::string& node, const master::World& world) {
        say(fmt::format("{}: workers begin, {} rank {} of {}", node, name(world),
                        world.own().first_rank, world.ranks));
        const Attempt attempt{world.generation, world.restarts};
        const auto store = stores_.find(world.members.front().address);
        if (store == stores_.end() || store->second < attempt)
            wrong(fmt::format("{}: workers of {} would find what the world before stored", node,
                              name(world)));
        auto [known, is_new] = worlds_.try_emplace(
            world.generation, Known{.nodes = world.nodes, .ranks = world.ranks, .members = {}});
        if (is_new) newest_ = std::max(newest_, world.generation);
        if (known->second.nodes != world.nodes || known->second.ranks != world.ranks)
            wrong(fmt::format("two worlds are {}", name(world)));
        for (master::Member member : world.members) {
            member.incarnation.clear();  // A new agent may have taken its workers over.
            const auto& kept =
                known->second.members.try_emplace(member.group_rank, member).first->second;
            if (!(kept == member))
                wrong(fmt::format("members do not agree on {}: rank {} of {} and of {}",
                                  name(world), member.group_rank, kept.address, member.address));
        }
        for (int i = 0; i < world.own().local_size; ++i) {
            const auto [holder, first] =
                holders_.try_emplace({world.generation, world.own().first_rank + i}, node);
            if (!first)
                wrong(fmt::format("two hold rank {} of {}: {} and {}", world.own().first_rank + i,
                                  name(world), holder->second, node));
        }
    }
    void worker_ended(const master::World& world, int rank) {
        holders_.erase({world.generation, rank});
    }
    /// An agent stops its workers.
    void stops(const std::string& node, const master::World& world, Duration grace) {
        say(fmt::format("{}: workers of {} are to stop within {} ms", node, name(world),
                        std::chrono::duration_cast<std::chrono::milliseconds>(grace).count()));
    }
    /// A record was written, or read.
    void recorded(const master::JobRecord& record) {
        if (end_ && record.end != end_) wrong("an end was not final");
        if (record.end) end_ = record.end;
        std::set<Attempt> charged;
        for (const master::Incident& incident : record.incidents)
            if (!charged.emplace(incident.generation, incident.restarts).second)
                wrong(fmt::format("({},{})#{} was charged twice", incident.generation.epoch,
                                  incident.generation.number, incident.restarts));
    }

    std::size_t worlds() const { return worlds_.size(); }
    master::Generation newest() const { return newest_; }
    /// The first that must not happen; empty: nothing.
    const std::string& broken() const { return broken_; }
    std::string trace() const {
        std::string all;
        for (const std::string& line : trace_) all += line + "\n";
        return all;
    }

  private:
    struct Known {
        int nodes = 0;
        int ranks = 0;
        std::map<int, master::Member> members;
    };

    const Clock& clock_;
    std::vector<std::string> trace_;
    std::string broken_;
    std::map<master::Generation, Known> worlds_;
    master::Generation newest_;
    std::map<std::pair<master::Generation, int>, std::string> holders_;
    std::map<std::string, Attempt> stores_;
    std::optional<master::Verdict> end_;
};

}  // namespace muster::agent
