#include "checkpoint/shm/segment_reader.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "checkpoint/image/digest.h"

namespace muster::checkpoint {
namespace {

/// Between two looks at the newest word a writer would have to save as often as there are slots.
constexpr int kTries = 16;

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

HeldImage::HeldImage(std::shared_ptr<const SegmentFile> file, UniqueFd lock, std::uint32_t slot,
                     const SlotHeader& header, Table table)
    : file_(std::move(file)),
      lock_(std::move(lock)),
      slot_(slot),
      header_(header),
      table_(std::move(table)) {}

std::span<const std::byte> HeldImage::bytes() const {
    return file_->image(slot_).first(header_.image_bytes);
}

std::span<const std::byte> HeldImage::tensor(std::size_t index) const {
    const Tensor& tensor = table_.tensors.at(index);
    return bytes().subspan(header_.table_bytes + tensor.begin, tensor.bytes());
}

std::uint64_t HeldImage::digest_word(std::size_t index) const {
    return file_->shape().slot_begin(slot_) + kPage + digests_begin(header_.image_bytes) +
           index * sizeof(std::uint64_t);
}

bool HeldImage::has_digests() const {
    return file_->word(file_->shape().slot_begin(slot_) + kDigestedWord)
               .load(std::memory_order_acquire) == 1;
}

void HeldImage::make_digests() {
    if (has_digests()) return;
    for (std::size_t i = 0; i < table_.tensors.size(); ++i)
        file_->word(digest_word(i)).store(digest_of(tensor(i)), std::memory_order_relaxed);
    file_->word(file_->shape().slot_begin(slot_) + kDigestedWord)
        .store(1, std::memory_order_release);
}

std::vector<std::uint64_t> HeldImage::digests() const {
    std::vector<std::uint64_t> all;
    if (!has_digests()) return all;
    for (std::size_t i = 0; i < table_.tensors.size(); ++i)
        all.push_back(file_->word(digest_word(i)).load(std::memory_order_relaxed));
    return all;
}

std::vector<std::string> HeldImage::damaged() const {
    std::vector<std::string> names;
    const std::vector<std::uint64_t> known = digests();
    for (std::size_t i = 0; i < known.size(); ++i)
        if (digest_of(tensor(i)) != known[i]) names.push_back(table_.tensors[i].name);
    return names;
}

Result<std::optional<HeldImage>> SegmentReader::newest() const {
    for (int tries = 0; tries < kTries; ++tries) {
        TRY(const Newest newest, read_newest(file_->newest_word().load(std::memory_order_acquire),
                                             file_->shape().slots));
        if (newest.sequence == 0) return std::nullopt;
        TRY(std::optional<HeldImage> held, hold(newest));
        if (held) return held;
    }
    return Error(Code::kUnavailable, "images are saved faster than one can be held");
}

/// What the headers say, the newest first; a slot that is being written has none.
std::vector<Newest> SegmentReader::images() const {
    std::vector<Newest> found;
    for (std::uint32_t slot = 0; slot < file_->shape().slots; ++slot)
        if (const std::uint64_t sequence = file_->slot_header(slot).sequence; sequence != 0)
            found.push_back({.sequence = sequence, .slot = slot});
    std::ranges::sort(found, std::greater<>(), &Newest::sequence);
    return found;
}

Result<std::optional<HeldImage>> SegmentReader::of_step(std::uint64_t step) const {
    for (const Newest& image : images()) {
        if (file_->slot_header(image.slot).facts.step != step) continue;
        TRY(std::optional<HeldImage> held, hold(image));
        if (held && held->facts().step == step) return held;
    }
    return std::nullopt;
}

std::vector<std::uint64_t> SegmentReader::steps() const {
    std::vector<std::uint64_t> found;
    for (const Newest& image : images()) found.push_back(file_->slot_header(image.slot).facts.step);
    return found;
}

/// nullopt: a writer came first.
Result<std::optional<HeldImage>> SegmentReader::hold(const Newest& image) const {
    TRY(UniqueFd lock, file_->open_again());
    const SegmentShape& shape = file_->shape();
    TRY(const bool held, try_lock(lock.get(), shape.slot_begin(image.slot), LockKind::kShared));
    if (!held) return std::nullopt;
    const SlotHeader header = file_->slot_header(image.slot);
    if (header.sequence != image.sequence) {
        if (file_->newest_word().load(std::memory_order_acquire) != image.word())
            return std::nullopt;
        return Error(Code::kInvalid, "the newest image is not where it is said to be");
    }
    TRY_VOID(check_slot_header(header, shape));
    const std::span<const std::byte> bytes = file_->image(image.slot).first(header.image_bytes);
    const std::string text(text_of(bytes.first(header.table_bytes)));
    if (digest_of(std::as_bytes(std::span(text))) != header.table_digest)
        return Error(Code::kInvalid, "the table of the image is damaged");
    TRY(Table table, decode(text, header.image_bytes));
    if (table.tensors.size() != header.tensors)
        return Error(Code::kInvalid, "the table of the image has other tensors");
    return HeldImage(file_, std::move(lock), image.slot, header, std::move(table));
}

}  // namespace muster::checkpoint
