#include "cli/internal/operate/spare_memory.h"

#include <malloc.h>

#include <cstddef>

namespace muster::cli {
namespace {

/// Less is soon used again.
constexpr std::size_t kWorthIt = std::size_t{2} << 20;
constexpr Duration kPeriod = std::chrono::minutes(1);

}  // namespace

void give_back_spare_memory() {
    if (mallinfo2().fordblks >= kWorthIt) malloc_trim(0);
}

Task<void> keep_giving_back_spare_memory(Clock& clock) {
    for (;;) {
        co_await clock.sleep_for(kPeriod);
        give_back_spare_memory();
    }
}

}  // namespace muster::cli
