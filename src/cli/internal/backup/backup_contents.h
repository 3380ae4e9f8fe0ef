#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::cli {

// A backup is a tar archive: first a description of what follows, then the store and perhaps the
// keys. Pure.

inline constexpr std::string_view kDescriptionFile = "muster-backup.json";
/// Of the description, and of a key.
inline constexpr std::uint64_t kMostSmallBytes = 1 << 20;

struct BackupMember {
    std::string name;
    std::uint64_t size = 0;
    std::uint32_t sum = 0;  ///< CRC-32 of its content

    friend bool operator==(const BackupMember&, const BackupMember&) = default;
};

struct BackupContents {
    std::string version;  ///< of the program that made it
    std::string made;     ///< when, as text for people
    std::vector<BackupMember> members;

    friend bool operator==(const BackupContents&, const BackupContents&) = default;
};

std::string describe_backup(const BackupContents& contents);
/// kInvalid: it is not one of a backup, names a file that no backup has, or one twice, or has no
/// store. kUnsupported: its format is not known.
Result<BackupContents> read_backup_description(std::string_view text);

}  // namespace muster::cli
