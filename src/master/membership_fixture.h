#pragma once

#include <fmt/format.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "master/membership.h"

namespace muster::master {
using namespace std::chrono_literals;

inline const Instant kStart = Instant() + 1h;

/// Agents by name; a node's address is its name.
class Nodes {
  public:
    explicit Nodes(MembershipLimits limits, bool found_world = false, std::uint64_t epoch = 1)
        : members(limits, epoch, found_world, kStart) {}

    /// Returns the slot, or the text of the error.
    std::string join(const std::string& name, std::optional<Slot> slot = {},
                     std::optional<World> holds = {}, const std::string& rack = "",
                     int local_size = 1) {
        const auto joined = members.join({.incarnation = name,
                                          .slot = slot,
                                          .address = name,
                                          .local_size = local_size,
                                          .rack = rack,
                                          .holds = std::move(holds)});
        return joined ? std::to_string(*joined) : joined.error().message();
    }
    void join_all(std::initializer_list<const char*> names) {
        for (const char* name : names) join(name);
    }
    void lose(const std::string& name) { members.lost(name, now); }

    /// The world after an advance(): "2: a0 b1" is the generation's number, then name and slot of
    /// each member in the order of ranks; "-": there is none. "=" in front: nothing changed.
    std::string look(Duration after = {}) {
        now += after;
        const bool changed = members.advance(now);
        const World* world = members.world();
        if (world == nullptr) return changed ? "changed?" : "-";
        std::string text = fmt::format("{}{}:", changed ? "" : "= ", world->generation.number);
        for (const Member& member : world->members)
            text += fmt::format(" {}{}", member.address, member.slot);
        return text;
    }

    Membership members;
    Instant now = kStart;
};

inline MembershipLimits limits(int least, int most, int unit = 1) {
    return {
        .min_nodes = least, .max_nodes = most, .node_unit = unit, .last_call = 30s, .rejoin = 10s};
}

inline World world_of(std::initializer_list<const char*> names, std::uint64_t number) {
    World world{.generation = {.epoch = 1, .number = number}, .members = {}};
    for (const char* name : names) {
        world.members.push_back({.slot = world.nodes,
                                 .incarnation = name,
                                 .address = name,
                                 .local_size = 1,
                                 .first_rank = world.nodes,
                                 .group_rank = world.nodes});
        world.ranks = ++world.nodes;
    }
    return world;
}

}  // namespace muster::master
