#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::job_protocol {

/// A place in the job. Ranks follow slots, and a replacement takes the slot of what it replaces.
using Slot = int;

/// One world, from its making to its end. Whatever speaks for an older one is refused.
struct Generation {
    std::uint64_t epoch = 0;   ///< the life of the master that made it
    std::uint64_t number = 0;  ///< counts up in the life of the job

    friend auto operator<=>(const Generation&, const Generation&) = default;
};

/// One node of a world.
struct Member {
    Slot slot = 0;
    std::string incarnation;  ///< the life of its agent that was there when the world was made
    std::string address;      ///< where its workers can be reached
    int local_size = 1;       ///< its workers
    int first_rank = 0;       ///< of them; the others follow
    int group_rank = 0;       ///< of the node
    int store_port = 0;       ///< of the store that its agent can serve
    /// Its others: its workers may come from any of them.
    std::vector<std::string> addresses = {};

    friend bool operator==(const Member&, const Member&) = default;
};

/// Who runs together. The master and the agent of group rank 0, whose store admits the members,
/// have all of them; every other agent has the first one and its own: a list of thousands, sent to
/// thousands, would weigh more than all else that is said.
struct World {
    Generation generation;
    std::vector<Member> members;  ///< by their group ranks
    /// How many attempts of the program there were before: no two have the same, so that what one
    /// of them stored is not found by another.
    int restarts = 0;
    int nodes = 0;  ///< members in all
    int ranks = 0;  ///< their workers in all
    /// The group rank of the member that this was told to; 0 in the master.
    int own_rank = 0;

    /// Of the member that this was told to.
    const Member& own() const { return own_rank == 0 ? members.front() : members.back(); }
    int size() const { return ranks; }
    const Member* find(Slot slot) const {
        for (const Member& member : members)
            if (member.slot == slot) return &member;
        return nullptr;
    }
    const Member* find(const std::string& incarnation) const {
        for (const Member& member : members)
            if (member.incarnation == incarnation) return &member;
        return nullptr;
    }

    friend bool operator==(const World&, const World&) = default;
};

/// What the member of that group rank is told of its world.
World as_told_to(const World& world, int group_rank);

}  // namespace muster::job_protocol
