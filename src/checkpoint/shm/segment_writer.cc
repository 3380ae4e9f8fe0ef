#include "checkpoint/shm/segment_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "checkpoint/image/slot_choice.h"

namespace muster::checkpoint {
namespace {

/// The lock of who writes a segment, in its header.
constexpr std::uint64_t kWritersLock = 0;

}  // namespace

Result<SegmentWriter> SegmentWriter::over(SegmentFile file) {
    TRY(const bool alone, try_lock(file.fd(), kWritersLock, LockKind::kExclusive));
    if (!alone)
        return Error(Code::kConflict,
                     fmt::format("another process saves the checkpoints of rank {} of the job {}",
                                 file.facts().owner.rank, file.facts().owner.job));
    SegmentWriter writer(std::make_unique<SegmentFile>(std::move(file)));
    TRY(const Newest newest, writer.newest());
    writer.last_ = newest.sequence;
    const SegmentShape& shape = writer.file().shape();
    for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
        const SlotHeader header = writer.file().slot_header(slot);
        if (check_slot_header(header, shape))
            writer.last_ = std::max(writer.last_, header.sequence);
    }
    return writer;
}

Result<Newest> SegmentWriter::newest() const {
    return read_newest(file_->newest_word().load(std::memory_order_acquire), file_->shape().slots);
}

/// Takes its lock.
Result<std::uint32_t> SegmentWriter::take_slot(const Newest& newest) {
    const SegmentShape& shape = file_->shape();
    const auto newest_slot = newest.sequence == 0 ? std::nullopt : std::optional(newest.slot);
    std::vector<SlotState> slots(shape.slots);
    std::vector<std::uint64_t> read;
    for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
        slots[slot].sequence = file_->word(shape.slot_begin(slot)).load(std::memory_order_relaxed);
        TRY(slots[slot].held, is_locked(file_->fd(), shape.slot_begin(slot)));
        if (slots[slot].held) read.push_back(file_->slot_header(slot).facts.step);
    }
    while (const auto slot = next_slot(slots, newest_slot)) {
        TRY(const bool taken, try_lock(file_->fd(), shape.slot_begin(*slot), LockKind::kExclusive));
        if (taken) return *slot;
        slots[*slot].held = true;  // by a reader that came meanwhile
        read.push_back(file_->slot_header(*slot).facts.step);
    }
    return Error(Code::kTooManyRequests,
                 fmt::format("each of {} slots has the newest image or is being read (of step {})",
                             shape.slots, fmt::join(read, ", ")));
}

Result<void> SegmentWriter::lay_out_again(const Table& table) {
    Layout made{.asked = table, .table = {}, .text = {}, .places = {}};
    TRY(made.table, lay_out(table));
    TRY(made.text, encode(made.table));
    std::unordered_map<std::string_view, std::size_t> by_name;
    for (std::size_t i = 0; i < made.table.tensors.size(); ++i)
        by_name.emplace(made.table.tensors[i].name, i);
    for (const Tensor& tensor : made.asked.tensors) made.places.push_back(by_name.at(tensor.name));
    layout_ = std::make_shared<const Layout>(std::move(made));
    return {};
}

Result<SegmentWriter::Save> SegmentWriter::begin(const Table& table, const ImageFacts& facts) {
    if (!layout_ || layout_->asked != table) TRY_VOID(lay_out_again(table));
    const SegmentShape& shape = file_->shape();
    const std::string& text = layout_->text;
    if (const std::uint64_t needed = needed_capacity(layout_->table, text); needed > shape.capacity)
        return Error(Code::kTooLarge, fmt::format("an image of {} bytes, and a slot has {}", needed,
                                                  shape.capacity));
    TRY(const Newest newest, this->newest());
    TRY(const std::uint32_t slot, take_slot(newest));
    if (newest.sequence != 0 && newest.slot == slot)
        file_->newest_word().store(0, std::memory_order_release);
    const std::uint64_t begin = shape.slot_begin(slot);
    file_->word(begin).store(0, std::memory_order_release);
    file_->word(begin + kDigestedWord).store(0, std::memory_order_release);
    std::memcpy(file_->image(slot).data(), text.data(), text.size());
    return Save(*this, slot, layout_, facts);
}

SegmentWriter::Save::Save(SegmentWriter& writer, std::uint32_t slot,
                          std::shared_ptr<const Layout> layout, ImageFacts facts)
    : writer_(&writer), slot_(slot), layout_(std::move(layout)), facts_(facts) {}

SegmentWriter::Save::Save(Save&& other) noexcept
    : writer_(std::exchange(other.writer_, nullptr)),
      slot_(other.slot_),
      layout_(std::move(other.layout_)),
      facts_(other.facts_) {}

SegmentWriter::Save::~Save() {
    if (writer_ == nullptr) return;
    const SegmentFile& file = *writer_->file_;
    unlock(file.fd(), file.shape().slot_begin(slot_));
}

std::span<std::byte> SegmentWriter::Save::tensor(std::size_t index) const {
    CHECK(writer_ != nullptr, "a save is over once it is published");
    const Tensor& tensor = layout_->table.tensors[layout_->places.at(index)];
    return writer_->file_->image(slot_).subspan(layout_->text.size() + tensor.begin,
                                                tensor.bytes());
}

void SegmentWriter::Save::publish() {
    CHECK(writer_ != nullptr, "a save is published once");
    const SegmentFile& file = *writer_->file_;
    const std::uint64_t begin = file.shape().slot_begin(slot_);
    const std::uint64_t sequence = ++writer_->last_;
    const SlotHeader header = make_slot_header(sequence, facts_, layout_->table, layout_->text);
    std::memcpy(file.bytes(begin, sizeof header).data(), &header, sizeof header);
    file.newest_word().store(Newest{.sequence = sequence, .slot = slot_}.word(),
                             std::memory_order_release);
    unlock(file.fd(), begin);
    writer_ = nullptr;
}

}  // namespace muster::checkpoint
