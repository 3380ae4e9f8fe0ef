#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "checkpoint/image/segment_layout.h"

namespace muster::checkpoint {

/// A segment's file, mapped for reading and writing. The file outlives this; that it is removed or
/// replaced by another one changes nothing for who has it mapped.
///
/// Words are for several processes at once; all else belongs to who holds the lock of its slot. Another
/// process of the same user that cuts the file off kills who touches what is gone (SIGBUS).
class SegmentFile {
  public:
    /// Mode 0600, with all of its memory taken from the system, which takes as long as clearing it.
    /// kAlreadyExists; kUnavailable: there is no room, and what there is of the file is removed.
    static Result<SegmentFile> create(const std::filesystem::path& path, const SegmentOwner& owner,
                                      const SegmentShape& shape);
    /// kNotFound; kForbidden: of another user; kInvalid, kUnsupported: read_header().
    static Result<SegmentFile> open(const std::filesystem::path& path);

    SegmentFile(SegmentFile&& other) noexcept;
    SegmentFile& operator=(SegmentFile&& other) noexcept;
    ~SegmentFile();

    const SegmentFacts& facts() const { return facts_; }
    const SegmentShape& shape() const { return facts_.shape; }

    /// The word at that place, which is a multiple of eight.
    std::atomic_ref<std::uint64_t> word(std::uint64_t at) const;
    std::atomic_ref<std::uint64_t> newest_word() const { return word(kNewestWord); }
    std::span<std::byte> bytes(std::uint64_t begin, std::uint64_t count) const;
    /// A copy.
    SlotHeader slot_header(std::uint32_t slot) const;
    /// Of the slot's capacity.
    std::span<std::byte> image(std::uint32_t slot) const;

    /// Has the slot's pages in this process before a save needs them: else it waits for each of them. Takes
    /// longer than a save; what is there stays as it is, and other threads may use the segment meanwhile.
    void touch(std::uint32_t slot) const;

    /// A descriptor with locks of its own.
    Result<UniqueFd> open_again() const;
    int fd() const { return fd_.get(); }

  private:
    SegmentFile(UniqueFd fd, std::byte* memory, SegmentFacts facts);
    static Result<SegmentFile> map(UniqueFd fd, std::uint64_t bytes, SegmentFacts facts);

    UniqueFd fd_;
    std::byte* memory_ = nullptr;
    SegmentFacts facts_;
};

// Locks of one byte, which belong to the open file: the kernel drops them with its last descriptor.

enum class LockKind : std::uint8_t { kShared, kExclusive };
/// False: another open file has one that excludes it.
Result<bool> try_lock(int fd, std::uint64_t at, LockKind kind);
/// Whether a lock of another open file would exclude an exclusive one.
Result<bool> is_locked(int fd, std::uint64_t at);
void unlock(int fd, std::uint64_t at);

}  // namespace muster::checkpoint
