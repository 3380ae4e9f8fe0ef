#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/pieces.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

/// Digests are of so many bytes each, so that several threads make them, and damage has a place.
inline constexpr std::uint64_t kChunk = std::uint64_t{16} << 20;

/// A file of a checkpoint, and what tells that it is whole.
struct StoredShard {
    std::string path;  ///< within the directory of its step
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t>
        chunks;  ///< digest_of() of each kChunk, the last one of what is left

    friend bool operator==(const StoredShard&, const StoredShard&) = default;
};

/// Writes `pieces` as the file `directory`/`name`, under another name until it is on the disk, with as many threads,
/// and makes its digests on the way. The new name holds once the directory is synced, which is the caller's part. What an error leaves is removed.
Result<StoredShard> write_shard(Storage& storage, std::string_view directory, std::string_view name,
                                const Pieces& pieces, int threads);

/// Whether write_shard() gives such a name to a file that it has not written yet: what a crash has left of one can go.
bool is_temporary(std::string_view name);

/// Damage in a file: from which byte on, how many.
struct DamagedRange {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};
/// Reads the whole file. Empty: it is what it was. kNotFound; kInvalid: it is longer or shorter.
Result<std::vector<DamagedRange>> verify_shard(const Storage& storage, std::string_view directory,
                                               const StoredShard& shard, int threads);

}  // namespace muster::checkpoint
