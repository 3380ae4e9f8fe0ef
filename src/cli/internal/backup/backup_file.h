#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/backup/backup_contents.h"

namespace muster::cli {

/// Makes a backup of files of one directory, each as it is, in an archive that only this user may
/// read; it is on disk when this returns. kAlreadyExists if `to` exists. Blocks.
Result<BackupContents> write_backup(const std::filesystem::path& from,
                                    const std::vector<std::string>& names, BackupContents contents,
                                    const std::filesystem::path& to);

/// Unpacks a backup into an empty directory, with files that only this user may read, and checks
/// sizes and sums. Blocks.
Result<BackupContents> unpack_backup(const std::filesystem::path& from,
                                     const std::filesystem::path& to);

}  // namespace muster::cli
