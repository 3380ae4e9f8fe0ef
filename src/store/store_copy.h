#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

/// Copies a store's file, as it is at one moment, to a new file that only this user may read; also
/// while another process has the store open, which is held up by nothing. Blocks as long as the
/// disk needs. kAlreadyExists if there is a file already. What was begun is removed after an error.
Result<void> copy_store(const std::string& from, const std::string& to);

/// Whether a file that no process has open is a store's, of a version that this program reads, and
/// undamaged: SQLite's structures and the sum of each row. It is brought up to date, as by opening
/// the store. Blocks.
Result<void> check_store(const std::string& path);

}  // namespace muster::store
