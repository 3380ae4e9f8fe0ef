#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace muster::checkpoint {

struct SlotState {
    std::uint64_t sequence = 0;  ///< of its image; 0: it has none, or a crash left it half written
    bool held = false;           ///< a reader has it
};

/// The slot that the next save writes: not the newest, not one that a reader holds, and of the others
/// the one whose image is the oldest. With one slot that is the newest. nullopt: there is none now.
std::optional<std::uint32_t> next_slot(std::span<const SlotState> slots,
                                       std::optional<std::uint32_t> newest);

}  // namespace muster::checkpoint
