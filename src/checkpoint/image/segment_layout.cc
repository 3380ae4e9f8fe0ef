#include "checkpoint/image/segment_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "checkpoint/image/digest.h"

namespace muster::checkpoint {
namespace {

constexpr std::array<char, 8> kMagic{'M', 'U', 'S', 'T', 'E', 'R', 'C', 'K'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kDigestBytes = 8;

/// Of all that stands before the header's digest, its last field.
template <class Header>
std::uint64_t digest_of_header(const Header& header) {
    return digest_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, digest)));
}

Error no_segment(std::string_view why) {
    return Error(Code::kInvalid, fmt::format("not a checkpoint segment: {}", why));
}

}  // namespace

Result<void> check_shape(const SegmentShape& shape) {
    if (shape.slots < 1 || shape.slots > kMostSlots)
        return Error(Code::kInvalid,
                     fmt::format("{} slots, and a segment has 1 to {}", shape.slots, kMostSlots));
    if (shape.capacity == 0 || shape.capacity % kPage != 0)
        return Error(Code::kInvalid, fmt::format("a capacity of {} bytes is no multiple of {}",
                                                 shape.capacity, kPage));
    if (shape.capacity > static_cast<std::uint64_t>(INT64_MAX) / (shape.slots + 1))
        return Error(Code::kInvalid, fmt::format("{} slots of {} bytes can't be counted",
                                                 shape.slots, shape.capacity));
    return {};
}

SegmentHeader make_header(const SegmentOwner& owner, const SegmentShape& shape) {
    SegmentHeader header{};
    header.magic = kMagic;
    header.version = kVersion;
    header.slots = shape.slots;
    header.capacity = shape.capacity;
    header.rank = owner.rank;
    std::ranges::copy(std::string_view(owner.job).substr(0, header.job.size() - 1),
                      header.job.begin());
    header.digest = digest_of_header(header);
    return header;
}

Result<SegmentFacts> read_header(const SegmentHeader& header, std::uint64_t file_bytes) {
    if (header.magic != kMagic) return no_segment("it does not begin with MUSTERCK");
    if (header.version != kVersion)
        return Error(Code::kUnsupported,
                     fmt::format("a checkpoint segment of version {}, and this Muster knows {}",
                                 header.version, kVersion));
    if (header.digest != digest_of_header(header)) return no_segment("its header is damaged");
    const SegmentShape shape{.slots = header.slots, .capacity = header.capacity};
    TRY_VOID(check_shape(shape));
    if (header.job.back() != '\0') return no_segment("the name of its job has no end");
    if (shape.bytes() != file_bytes)
        return no_segment(
            fmt::format("it has {} bytes and should have {}", file_bytes, shape.bytes()));
    return SegmentFacts{.owner = {.job = header.job.data(), .rank = header.rank}, .shape = shape};
}

Result<Newest> read_newest(std::uint64_t word, std::uint32_t slots) {
    if (word == 0) return Newest{};
    const Newest newest{.sequence = word >> 8, .slot = static_cast<std::uint32_t>(word & 0xff) - 1};
    if (newest.sequence == 0 || newest.slot >= slots)
        return no_segment(
            fmt::format("its newest image is said to be in slot {} of {}", newest.slot, slots));
    return newest;
}

std::uint64_t digests_begin(std::uint64_t image_bytes) {
    return (image_bytes + kDigestBytes - 1) / kDigestBytes * kDigestBytes;
}

std::uint64_t needed_capacity(const Table& table, std::string_view text) {
    return digests_begin(text.size() + table.payload()) + table.tensors.size() * kDigestBytes;
}

SlotHeader make_slot_header(std::uint64_t sequence, const ImageFacts& facts, const Table& table,
                            std::string_view text) {
    SlotHeader header{.sequence = sequence,
                      .facts = facts,
                      .table_bytes = text.size(),
                      .image_bytes = text.size() + table.payload(),
                      .tensors = table.tensors.size(),
                      .table_digest = digest_of(std::as_bytes(std::span(text))),
                      .digest = 0};
    header.digest = digest_of_header(header);
    return header;
}

Result<void> check_slot_header(const SlotHeader& header, const SegmentShape& shape) {
    if (header.sequence == 0) return Error(Code::kInvalid, "the slot has no image");
    if (header.digest != digest_of_header(header))
        return Error(Code::kInvalid, "the header of the image is damaged");
    const bool fits =
        header.image_bytes <= shape.capacity && header.table_bytes <= header.image_bytes &&
        header.table_bytes <= kMaxTable + kPage &&
        header.tensors <= (shape.capacity - header.image_bytes) / kDigestBytes &&
        digests_begin(header.image_bytes) + header.tensors * kDigestBytes <= shape.capacity;
    if (!fits)
        return Error(Code::kInvalid,
                     fmt::format("an image of {} bytes with {} tensors is not in a slot of {}",
                                 header.image_bytes, header.tensors, shape.capacity));
    return {};
}

}  // namespace muster::checkpoint
