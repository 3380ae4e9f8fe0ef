#pragma once

#include <vector>

#include "store/internal/file/change_row.h"
#include "store/internal/file/sqlite.h"

namespace muster::store {

/// Every change of the file, oldest first, checked and parsed on `threads` threads (at least 1).
/// Meanwhile `checker` verifies the structure of the file on a thread of its own. Blocks; nothing
/// else may use the connections.
Result<std::vector<ChangeRow>> read_changes(Connection& reader, Connection& checker,
                                            unsigned threads);

}  // namespace muster::store
