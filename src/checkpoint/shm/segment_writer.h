#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/table.h"
#include "checkpoint/shm/segment_file.h"

namespace muster::checkpoint {

/// The one process that saves into a segment. Thread: one.
class SegmentWriter {
  public:
    /// kConflict: another process writes it.
    static Result<SegmentWriter> over(SegmentFile file);

  private:
    /// A table, and what is made of it.
    struct Layout {
        Table asked;
        Table table;
        std::string text;
        std::vector<std::size_t> places;  ///< of the tensors of `asked` in `table`
    };

  public:
    /// A save that is on its way. If it goes without publish(), the slot has no image, and the newest
    /// one is what it was. With one slot there is none until publish(). Must not outlive the writer.
    class Save {
      public:
        Save(Save&& other) noexcept;
        Save& operator=(Save&&) = delete;
        ~Save();

        /// Where the tensor goes, by its place in the table that begin() was given.
        std::span<std::byte> tensor(std::size_t index) const;
        /// All of it is copied. Other processes find it from now on.
        void publish();

      private:
        friend class SegmentWriter;
        Save(SegmentWriter& writer, std::uint32_t slot, std::shared_ptr<const Layout> layout,
             ImageFacts facts);

        SegmentWriter* writer_;  ///< null: moved from, or published
        std::uint32_t slot_;
        std::shared_ptr<const Layout> layout_;
        ImageFacts facts_;
    };
    /// Puts the table of a new image into a slot. One save at a time. With the table of the save before it
    /// costs less.
    ///
    /// kTooLarge: it needs more than a slot's capacity, which the message names. kTooManyRequests: all
    /// slots that it may use are being read. Else lay_out()'s and encode()'s errors.
    Result<Save> begin(const Table& table, const ImageFacts& facts);

    const SegmentFile& file() const { return *file_; }

  private:
    explicit SegmentWriter(std::unique_ptr<SegmentFile> file) : file_(std::move(file)) {}
    Result<void> lay_out_again(const Table& table);
    Result<std::uint32_t> take_slot(const Newest& newest);
    Result<Newest> newest() const;

    std::unique_ptr<SegmentFile> file_;          ///< at one place, for Save
    std::uint64_t last_ = 0;                     ///< sequence of the last image that was published
    std::shared_ptr<const Layout> layout_ = {};  ///< of the last save; null before the first
};

}  // namespace muster::checkpoint
