#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::checkpoint {

// How the files of a rank's memory are called, which other processes find by that: an agent, a debugger, the next
// worker. Pure.

/// Whose memory it is.
struct MemoryOwner {
    std::string job;
    std::uint32_t user = 0;

    friend bool operator==(const MemoryOwner&, const MemoryOwner&) = default;
};

/// What the names of all files of a job begin with: `muster-<the job's name, cut>-<digest of job and user>-`. Two jobs
/// have different ones, however alike their names are.
std::string file_prefix(const MemoryOwner& owner);

/// `<prefix><rank>.<number>`. A rank's segment that is too small is replaced by one with the next number.
std::string segment_name(const MemoryOwner& owner, std::uint32_t rank, std::uint64_t number);
/// Of the file whose lock the writing process of the rank has.
std::string writer_lock_name(const MemoryOwner& owner, std::uint32_t rank);

struct SegmentNumber {
    std::uint32_t rank = 0;
    std::uint64_t number = 0;  ///< from 1 on

    friend bool operator==(const SegmentNumber&, const SegmentNumber&) = default;
};
/// nullopt: no segment of that owner has this name.
std::optional<SegmentNumber> parse_segment_name(const MemoryOwner& owner, std::string_view name);

}  // namespace muster::checkpoint
