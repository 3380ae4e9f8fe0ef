// A file of an unknown origin as a zip archive of torch: each entry that is told lies within it, and so do the tensors.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/check.h"
#include "checkpoint/format/torch_reader.h"

using namespace muster::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const FileBytes file{
        .bytes = size,
        .read = [&](std::uint64_t at, std::span<std::byte> into) -> muster::Result<void> {
            CHECK(at <= size && into.size() <= size - at, "what is read is within the file");
            if (!into.empty()) std::memcpy(into.data(), data + at, into.size());
            return {};
        }};
    if (const auto entries = read_zip(file))
        for (const ZipEntry& entry : *entries)
            CHECK(entry.begin <= size && entry.bytes <= size - entry.begin,
                  "it is within the file");
    if (const auto read = read_torch_file(file))
        for (const StoredStorage& stored : read->storages)
            CHECK(stored.storage.bytes() <= stored.bytes && stored.bytes <= size - stored.begin,
                  "its tensors are within it");
    return 0;
}
