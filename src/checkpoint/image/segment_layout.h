#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"
#include "checkpoint/image/table.h"

namespace muster::checkpoint {

// Where everything lies in a segment, the memory in which a rank keeps its images, and what its headers
// say (docs/design/checkpoints.md). Pure: what is checked here is a copy, which does not change meanwhile.

inline constexpr std::uint32_t kMostSlots = 16;

/// Whose images these are.
struct SegmentOwner {
    std::string job;  ///< at most 127 bytes
    std::uint32_t rank = 0;

    friend bool operator==(const SegmentOwner&, const SegmentOwner&) = default;
};

struct SegmentShape {
    std::uint32_t slots = 2;  ///< 1 to kMostSlots
    std::uint64_t capacity =
        0;  ///< of each for its image and the digests behind it; a multiple of kPage

    std::uint64_t slot_bytes() const { return kPage + capacity; }
    std::uint64_t bytes() const { return kPage + slots * slot_bytes(); }
    /// Of its header; the image is one page behind it.
    std::uint64_t slot_begin(std::uint32_t slot) const { return kPage + slot * slot_bytes(); }
    friend bool operator==(const SegmentShape&, const SegmentShape&) = default;
};

/// kInvalid: no shape of a segment, or more bytes than can be counted.
Result<void> check_shape(const SegmentShape& shape);

/// The first bytes of a segment.
struct SegmentHeader {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t slots;
    std::uint64_t capacity;
    std::uint32_t rank;
    std::uint32_t unused;
    std::array<char, 128> job;  ///< ends with a zero
    std::uint64_t digest;       ///< of what stands before it
};
/// Behind it, on a line of the cache of its own: the word that names the newest image.
inline constexpr std::uint64_t kNewestWord = 512;

SegmentHeader make_header(const SegmentOwner& owner, const SegmentShape& shape);

struct SegmentFacts {
    SegmentOwner owner;
    SegmentShape shape;
};
/// kInvalid: not the header of a segment of so many bytes, of this version of Muster.
Result<SegmentFacts> read_header(const SegmentHeader& header, std::uint64_t file_bytes);

/// The newest image: which slot has it, and the how manieth image of the segment it is, from 1 on.
struct Newest {
    std::uint64_t sequence = 0;  ///< 0: there is none
    std::uint32_t slot = 0;

    std::uint64_t word() const { return sequence == 0 ? 0 : sequence << 8 | (slot + 1); }
    friend bool operator==(const Newest&, const Newest&) = default;
};
/// kInvalid: no word of a segment with so many slots.
Result<Newest> read_newest(std::uint64_t word, std::uint32_t slots);

/// What an image is of.
struct ImageFacts {
    std::uint64_t epoch = 0;  ///< of the generation that saved it, as is `generation`
    std::uint64_t generation = 0;
    std::uint64_t step = 0;

    friend bool operator==(const ImageFacts&, const ImageFacts&) = default;
};

/// The first bytes of a slot. All zero: it has none.
struct SlotHeader {
    std::uint64_t sequence;  ///< 0 while it is written
    ImageFacts facts;
    std::uint64_t table_bytes;
    std::uint64_t image_bytes;
    std::uint64_t tensors;
    std::uint64_t table_digest;
    std::uint64_t digest;  ///< of what stands before it
};
/// Behind it: 1 once the digests of the tensors stand behind the image.
inline constexpr std::uint64_t kDigestedWord = 512;

/// An image of that table in a slot; `text` is encode(table).
SlotHeader make_slot_header(std::uint64_t sequence, const ImageFacts& facts, const Table& table,
                            std::string_view text);
/// How many bytes an image with that table takes of a slot, with its digests.
std::uint64_t needed_capacity(const Table& table, std::string_view text);
/// Of the digests, from the image's begin on.
std::uint64_t digests_begin(std::uint64_t image_bytes);
/// kInvalid: no header of an image that fits into a slot of this shape.
Result<void> check_slot_header(const SlotHeader& header, const SegmentShape& shape);

static_assert(std::is_trivially_copyable_v<SegmentHeader> && sizeof(SegmentHeader) == 168);
static_assert(std::is_trivially_copyable_v<SlotHeader> && sizeof(SlotHeader) == 72);

}  // namespace muster::checkpoint
