#include "master/split_brain.h"

#include <tuple>

namespace muster::master {

Stance stance(const MasterClaim& own, const MasterClaim& other) {
    const bool other_is_newer = other.epoch > own.epoch;
    if (!own.settled) return other.settled && other_is_newer ? Stance::kYield : Stance::kGoOn;
    if (!other.settled) return Stance::kGoOn;
    const bool stays = std::tuple(own.nodes, own.epoch) > std::tuple(other.nodes, other.epoch);
    if (stays) return own.epoch > other.epoch ? Stance::kGoOn : Stance::kClaimAnew;
    // If the older one stays, it first claims a new epoch.
    return other_is_newer ? Stance::kYield : Stance::kGoOn;
}

}  // namespace muster::master
