#include "checkpoint/shm/rank_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "checkpoint/shm/memory_room.h"

namespace muster::checkpoint {
namespace {

/// Who removes the job's memory may take the file away between two of our steps; no one does so again and again.
constexpr int kLockTries = 16;

bool is_there(const std::filesystem::path& path, int fd) {
    struct stat named{};
    struct stat open{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
           named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

Result<UniqueFd> open_lock(const std::filesystem::path& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!fd) return system_error("open " + path.string(), errno);
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return system_error("look at " + path.string(), errno);
    if (facts.st_uid != ::geteuid())
        return Error(Code::kForbidden, path.string() + " belongs to another user");
    return fd;
}

Result<UniqueFd> take_lock(const MemoryPlace& place) {
    const auto path = place.directory / writer_lock_name(place.owner, place.rank);
    for (int tries = 0; tries < kLockTries; ++tries) {
        TRY(UniqueFd fd, open_lock(path));
        TRY(const bool alone, try_lock(fd.get(), 0, LockKind::kExclusive));
        if (!alone)
            return Error(Code::kConflict, fmt::format("another process saves the checkpoints of "
                                                      "rank {} of the job {}: end it, or give "
                                                      "this one another rank or job",
                                                      place.rank, place.owner.job));
        if (is_there(path, fd.get())) return fd;
    }
    return Error(Code::kUnavailable, path.string() + " is removed as often as it is made");
}

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// A state grows by a little as a rule: longer texts, a few more numbers.
std::uint64_t with_some_more(std::uint64_t bytes) { return rounded_up(bytes + bytes / 64 + 65536); }

}  // namespace

Result<RankWriter> RankWriter::claim(MemoryPlace place, std::uint32_t slots) {
    TRY_VOID(check_shape({.slots = slots, .capacity = kPage}));
    TRY(UniqueFd lock, take_lock(place));
    RankWriter writer(std::move(place), slots, std::move(lock));
    TRY_VOID(writer.take_over());
    return writer;
}

/// The newest segment with an image is the current one, and an older one is over. One without an image that is newer
/// was made for a state that had grown.
Result<void> RankWriter::take_over() {
    TRY(const auto segments, find_segments(place_.directory, place_.owner, place_.rank));
    for (const FoundSegment& segment : segments) {
        const std::uint64_t number = segment.number.number;
        highest_ = std::max(highest_, number);
        if (current_) {
            remove(number);
            continue;
        }
        TRY(const bool usable, take_segment(number));
        if (!usable) remove(number);
    }
    if (!current_) current_ = std::exchange(larger_, std::nullopt);
    return {};
}

/// False: a crash left it half made, it is damaged, or there is a larger one already.
Result<bool> RankWriter::take_segment(std::uint64_t number) {
    auto file = open_segment(place_, number);
    if (!file && file.error().code() == Code::kInvalid) return false;
    if (!file) return file.error();
    const auto newest =
        read_newest(file->newest_word().load(std::memory_order_acquire), file->shape().slots);
    if (!newest || (newest->sequence == 0 && larger_)) return false;
    TRY(SegmentWriter writer, SegmentWriter::over(*std::move(file)));
    (newest->sequence == 0 ? larger_ : current_).emplace(std::move(writer), number);
    return true;
}

bool RankWriter::fits(const std::optional<Segment>& segment, std::uint64_t bytes) const {
    if (!segment) return false;
    const SegmentShape& shape = segment->writer.file().shape();
    return shape.slots == slots_ && shape.capacity >= bytes;
}

void RankWriter::remove(std::uint64_t number) const { ::unlink(place_.segment(number).c_str()); }

bool RankWriter::has_room(std::uint64_t bytes) const {
    return fits(larger_ ? larger_ : current_, bytes);
}

Result<void> RankWriter::reserve(std::uint64_t bytes) {
    if (has_room(bytes)) return {};
    if (bytes > static_cast<std::uint64_t>(INT64_MAX) / (2 * kMostSlots))
        return Error(Code::kTooLarge, fmt::format("an image of {} bytes", bytes));
    const SegmentShape shape{.slots = slots_, .capacity = with_some_more(bytes)};
    TRY_VOID(check_room(memory_room(place_.directory), shape.bytes(), place_.directory.string()));
    const std::uint64_t number = highest_ + 1;
    TRY(SegmentFile file,
        SegmentFile::create(place_.segment(number), {.job = place_.owner.job, .rank = place_.rank},
                            shape));
    TRY(SegmentWriter writer, SegmentWriter::over(std::move(file)));
    highest_ = number;
    if (larger_) remove(larger_->number);
    larger_.emplace(std::move(writer), number);
    if (!current_) current_ = std::exchange(larger_, std::nullopt);
    return {};
}

Result<void> RankWriter::save(const Table& table, std::uint64_t needed, const ImageFacts& facts,
                              const Fill& fill) {
    TRY_VOID(reserve(needed));
    SegmentWriter& writer = (larger_ ? larger_ : current_)->writer;
    {
        TRY(SegmentWriter::Save saving, writer.begin(table, facts));
        places_.clear();
        for (std::size_t i = 0; i < table.tensors.size(); ++i) places_.push_back(saving.tensor(i));
        fill(places_);
        saving.publish();
    }
    if (larger_) {
        remove(current_->number);
        current_ = std::exchange(larger_, std::nullopt);
    }
    return {};
}

const SegmentFile* RankWriter::segment() const {
    const auto& next = larger_ ? larger_ : current_;
    return next ? &next->writer.file() : nullptr;
}

}  // namespace muster::checkpoint
