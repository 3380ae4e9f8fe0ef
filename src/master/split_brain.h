#pragma once

#include <cstdint>

#include "master/service/vocabulary.h"

namespace muster::master {

enum class Stance : std::uint8_t {
    kGoOn,
    kYield,     ///< the other master stays, and our agents are to join it
    kClaimAnew  ///< claim an epoch above the other's, which then yields
};

/// What a master does when it hears of another one. There are two if one was cut off, the next
/// endpoint took over, and the network works again: both may have a world, as far as --nnodes
/// permits.
///
/// - The one with more nodes stays, because that costs less work; of equals, the newer one.
/// - Agents obey the newest master. So if the older one is to stay, it first claims an epoch above
///   the other's: its world is taken over as after the death of a master, and continues.
/// - One that is still gathering its agents decides nothing, but yields to a newer one that has
///   some.
///
/// Of two settled masters that have heard of each other, exactly one stays. Pure.
Stance stance(const MasterClaim& own, const MasterClaim& other);

}  // namespace muster::master
