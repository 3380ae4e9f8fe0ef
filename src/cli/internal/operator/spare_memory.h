#pragma once

#include "base/async/async.h"
#include "base/time/clock.h"

namespace muster::cli {

/// Returns freed memory to the system. Otherwise the allocator keeps it: after a list of ten
/// thousand pods that is three times as much as is in use, in pieces between used ones. Cheap if
/// there is little. Any thread.
void give_back_spare_memory();

/// Does so every minute until it is cancelled: jobs come and go.
Task<void> keep_giving_back_spare_memory(Clock& clock);

/// Returns the pages of the program and its libraries. Pages that are needed again come from the
/// page cache, where they stay; those that only the start needed do not come back. Any thread.
void give_back_program_pages();

}  // namespace muster::cli
