#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

// Files of a file system past its page cache, where it lets us: what training reads stays there. Whole pages at aligned
// places and addresses go by direct I/O; the rest, and all of it where a file system has no direct I/O, by ordinary calls.

/// `file` is open for writing, new and empty; `path` is for messages. Takes the file's space from the disk, so that a
/// full one is told now. Errors: storage_failure()'s.
Result<std::unique_ptr<NewFile>> new_direct_file(UniqueFd file, std::string path,
                                                 std::uint64_t bytes);

/// `file` is open for reading. kInvalid: it is not a file but a pipe, a device or a directory.
Result<std::unique_ptr<StoredFile>> stored_direct_file(UniqueFd file, std::string path);

}  // namespace muster::checkpoint
