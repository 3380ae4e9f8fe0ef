#pragma once

#include <cstdint>

namespace muster::master {

/// What a master says of itself to another one of the same job.
struct MasterClaim {
    std::uint64_t epoch = 0;
    int nodes = 0;        ///< of its world; 0: it has none
    bool settled = true;  ///< it knows which agents there are, and the job goes on

    friend bool operator==(const MasterClaim&, const MasterClaim&) = default;
};

enum class Stance : std::uint8_t {
    kGoOn,
    kYield,     ///< the other is the job's master, and its agents are to join that one
    kClaimAnew  ///< with an epoch above the other's, which then yields
};

/// What a master does that hears of another. There are two when one was cut off, the next endpoint
/// took over, and the network is whole again: both may have a world, as far as --nnodes lets each.
///
/// - The one with more nodes stays, since that costs fewer workers what they have done; of equals,
///   the newer.
/// - Agents obey the newest. So one that stays and is older first claims an epoch above the
///   other's: what runs below it is taken over as after any death of a master, and continues.
/// - One that still gathers its agents decides nothing, but leaves them to a newer one that has
///   some.
///
/// Of two that are settled and have heard of each other exactly one stays. Pure.
Stance stance(const MasterClaim& own, const MasterClaim& other);

}  // namespace muster::master
