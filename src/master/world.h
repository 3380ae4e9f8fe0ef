#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::master {

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

    friend bool operator==(const Member&, const Member&) = default;
};

/// Who runs together. The position of a member is its group rank.
struct World {
    Generation generation;
    std::vector<Member> members;

    int size() const {
        return members.empty() ? 0 : members.back().first_rank + members.back().local_size;
    }
    const Member* find(Slot slot) const {
        for (const Member& member : members)
            if (member.slot == slot) return &member;
        return nullptr;
    }

    friend bool operator==(const World&, const World&) = default;
};

}  // namespace muster::master
