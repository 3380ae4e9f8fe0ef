// What a manifest says, with a digest that is right: whatever it is, what is read as one has only paths
// within its directory, and is read again as it is written.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "checkpoint/commit/manifest.h"
#include "checkpoint/image/digest.h"
#include "checkpoint/storage/storage_path.h"

using namespace muster::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view content(reinterpret_cast<const char*>(data), size);
    const std::uint64_t digest = digest_of(std::as_bytes(std::span(content)));
    static_cast<void>(decode_manifest(content));
    const auto read =
        decode_manifest(fmt::format("{},\"digest\":\"{:016x}\"}}\n", content, digest));
    if (!read) return 0;
    for (const ManifestShard& shard : read->shards) {
        CHECK(shard.rank < read->layout.world_size, "a rank is one of the world");
        for (const StoredShard& file : shard.files) {
            const auto parts = parts_of(file.path);
            CHECK(parts && !parts->empty(), "a file is in its directory");
        }
    }
    const auto again = decode_manifest(encode(*read));
    CHECK(again && *again == *read, "it is read as it was written");
    return 0;
}
