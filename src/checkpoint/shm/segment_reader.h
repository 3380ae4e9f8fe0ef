#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/table.h"
#include "checkpoint/shm/segment_file.h"

namespace muster::checkpoint {

/// An image in a segment, which stays as it is while this lives: the slot is not written meanwhile.
/// Refers to the segment, which it keeps mapped. Thread: any one at a time.
class HeldImage {
  public:
    HeldImage(HeldImage&&) = default;
    HeldImage& operator=(HeldImage&&) = default;

    const ImageFacts& facts() const { return header_.facts; }
    std::uint64_t sequence() const { return header_.sequence; }
    const Table& table() const { return table_; }
    /// The whole safetensors file.
    std::span<const std::byte> bytes() const;
    std::span<const std::byte> tensor(std::size_t index) const;

    /// Whether the tensors' digests stand behind the image.
    bool has_digests() const;
    /// Makes them, if they don't yet.
    void make_digests();
    /// One for each tensor, in the order of table(); empty without.
    std::vector<std::uint64_t> digests() const;
    /// The names of the tensors that are not what their digests say. Empty also without digests.
    std::vector<std::string> damaged() const;

  private:
    friend class SegmentReader;
    HeldImage(std::shared_ptr<const SegmentFile> file, UniqueFd lock, std::uint32_t slot,
              const SlotHeader& header, Table table);
    std::uint64_t digest_word(std::size_t index) const;

    std::shared_ptr<const SegmentFile> file_;
    UniqueFd lock_;
    std::uint32_t slot_;
    SlotHeader header_;
    Table table_;
};

/// Who reads a segment, whichever process writes it. Thread: any one at a time.
class SegmentReader {
  public:
    explicit SegmentReader(SegmentFile file)
        : file_(std::make_shared<const SegmentFile>(std::move(file))) {}

    const SegmentFacts& facts() const { return file_->facts(); }
    /// nullopt: there is none. kInvalid: what is said to be one is damaged. kUnavailable: each time that
    /// it was to be held, the writer had begun to write over it.
    Result<std::optional<HeldImage>> newest() const;
    /// The image of that step, the newest of them if there are several. nullopt: there is none any more. kInvalid: it is
    /// damaged.
    Result<std::optional<HeldImage>> of_step(std::uint64_t step) const;
    /// The steps of all images that can be held now, the newest image first.
    std::vector<std::uint64_t> steps() const;

  private:
    std::vector<Newest> images() const;
    Result<std::optional<HeldImage>> hold(const Newest& image) const;

    std::shared_ptr<const SegmentFile> file_;
};

}  // namespace muster::checkpoint
