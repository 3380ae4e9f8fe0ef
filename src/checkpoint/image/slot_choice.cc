#include "checkpoint/image/slot_choice.h"

namespace muster::checkpoint {

std::optional<std::uint32_t> next_slot(std::span<const SlotState> slots,
                                       std::optional<std::uint32_t> newest) {
    std::optional<std::uint32_t> chosen;
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        if (slots[slot].held || (slot == newest && slots.size() > 1)) continue;
        if (!chosen || slots[slot].sequence < slots[*chosen].sequence) chosen = slot;
    }
    return chosen;
}

}  // namespace muster::checkpoint
