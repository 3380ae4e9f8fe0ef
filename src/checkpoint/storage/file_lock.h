#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

/// A record lock of the file `name` in the open directory, which the kernel drops with the process. The file is made with
/// mode 0600 and says who holds it; it stays when the lock goes. `path` is for messages.
///
/// kConflict: another open file has it, and the message who. kUnsupported: the file system has no locks.
Result<std::unique_ptr<StorageLock>> lock_file(int directory, const std::string& name,
                                               const std::string& path, std::string_view purpose);

}  // namespace muster::checkpoint
