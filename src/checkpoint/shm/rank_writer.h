#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "checkpoint/shm/rank_memory.h"
#include "checkpoint/shm/segment_writer.h"

namespace muster::checkpoint {

/// The one process that saves a rank's state in memory, whatever size that has: a state that outgrows its segment gets
/// a larger one, and the old one goes when the new one has an image.
///
/// Owns the rank's writer lock, a file beside the segments. Thread: one at a time.
class RankWriter {
  public:
    /// Takes the rank's memory over from the process before, and removes what a crash left half made. kConflict:
    /// another process saves for this rank, or the memory is of another job; kForbidden: it is of another user; kNotFound: there is
    /// no such directory.
    static Result<RankWriter> claim(MemoryPlace place, std::uint32_t slots);

    /// Whether the next image may have so many bytes without another segment.
    bool has_room(std::uint64_t bytes) const;
    /// Makes sure that an image of so many bytes finds room; does nothing if it does. kUnavailable: there is not so much memory,
    /// with how much there is; nothing is changed then.
    Result<void> reserve(std::uint64_t bytes);

    /// Copies the tensors to where they belong, given in the order of the table.
    using Fill = std::function<void(std::span<const std::span<std::byte>>)>;
    /// An image with that table, which needs so many bytes of a slot. Once this returns, readers find it. Errors: reserve()'s,
    /// SegmentWriter::begin()'s; the newest image is then what it was.
    Result<void> save(const Table& table, std::uint64_t needed, const ImageFacts& facts,
                      const Fill& fill);

    /// What the next image goes to, as it is now; nullptr: there is none yet.
    const SegmentFile* segment() const;
    const MemoryPlace& place() const { return place_; }

  private:
    struct Segment {
        SegmentWriter writer;
        std::uint64_t number;
    };
    RankWriter(MemoryPlace place, std::uint32_t slots, UniqueFd lock)
        : place_(std::move(place)), slots_(slots), lock_(std::move(lock)) {}
    Result<void> take_over();
    Result<bool> take_segment(std::uint64_t number);
    bool fits(const std::optional<Segment>& segment, std::uint64_t bytes) const;
    void remove(std::uint64_t number) const;

    MemoryPlace place_;
    std::uint32_t slots_;
    UniqueFd lock_;
    std::optional<Segment> current_ = {};  ///< has the newest image, if there is one
    std::optional<Segment> larger_ = {};   ///< has none yet, and takes the next one
    std::uint64_t highest_ = 0;            ///< number of a segment that there was
    std::vector<std::span<std::byte>> places_ = {};
};

}  // namespace muster::checkpoint
