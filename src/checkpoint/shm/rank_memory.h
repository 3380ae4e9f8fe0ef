#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/shm/segment_name.h"
#include "checkpoint/shm/segment_reader.h"

namespace muster::checkpoint {

// The segments of a rank in a directory in memory, such as /dev/shm: as a rule one, two while the state grows.

/// Where a rank's memory is.
struct MemoryPlace {
    std::filesystem::path directory;
    MemoryOwner owner;
    std::uint32_t rank = 0;

    std::filesystem::path segment(std::uint64_t number) const {
        return directory / segment_name(owner, rank, number);
    }
};

struct FoundSegment {
    SegmentNumber number;
    std::filesystem::path path;
};
/// Of the job, or of one of its ranks; by rank, the newest of each first. Only names are looked at. kNotFound: there
/// is no such directory.
Result<std::vector<FoundSegment>> find_segments(const std::filesystem::path& directory,
                                                const MemoryOwner& owner,
                                                std::optional<std::uint32_t> rank);

/// As SegmentFile::open(). kConflict: it has that name, and belongs to another job or rank.
Result<SegmentFile> open_segment(const MemoryPlace& place, std::uint64_t number);

/// An image in one of a rank's segments, with what a mapping of its own needs.
struct FoundImage {
    HeldImage image;
    UniqueFd file;            ///< the segment
    std::uint64_t begin = 0;  ///< of the image in it
};
/// The newest image of the rank, in whichever segment. nullopt: there is none. Segments that are being made, or
/// that a crash left without an image, are passed over. Errors: those of SegmentReader and open_segment(), where no other segment has
/// an image.
Result<std::optional<FoundImage>> find_newest_image(const MemoryPlace& place);

/// Removes the memory of a job, or of one of its ranks. What others have mapped stays until they end. Returns how many segments there were.
Result<std::uint64_t> remove_memory(const std::filesystem::path& directory,
                                    const MemoryOwner& owner, std::optional<std::uint32_t> rank);

}  // namespace muster::checkpoint
