#pragma once

#include "base/async/async.h"
#include "base/time/clock.h"

namespace muster::cli {

/// Gives back to the machine what was freed. The allocator keeps it otherwise: after a list of ten
/// thousand pods that is three times as much as is in use, in pieces between what is. Cheap where
/// there is little. Any thread.
void give_back_spare_memory();

/// Does so every minute, until it is cancelled: jobs come and go.
Task<void> keep_giving_back_spare_memory(Clock& clock);

/// Gives back the pages of the program and its libraries. Those that are needed again come from the
/// page cache, where they stay; what only the start needed does not. Any thread.
void give_back_program_pages();

}  // namespace muster::cli
