#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::checkpoint {

/// A file of others. `read` fills its argument from so many bytes on, which are within the file.
struct FileBytes {
    std::uint64_t bytes = 0;
    std::function<Result<void>(std::uint64_t at, std::span<std::byte> into)> read;
};

struct ZipEntry {
    std::string name;
    std::uint64_t begin = 0;  ///< of its content, in the file
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
};

struct ZipLimits {
    std::uint64_t directory = std::uint64_t{256} << 20;  ///< bytes
    std::uint64_t entries = 4'000'000;
};

/// The entries of an archive in the order of its directory, each within the file; what they contain is not looked at. kInvalid: it is no
/// archive, or damaged; kUnsupported: an entry that is compressed or encrypted, an archive on several disks; kTooLarge: the limits.
Result<std::vector<ZipEntry>> read_zip(const FileBytes& file, const ZipLimits& limits = {});

}  // namespace muster::checkpoint
