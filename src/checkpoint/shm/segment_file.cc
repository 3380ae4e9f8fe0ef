#include "checkpoint/shm/segment_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace muster::checkpoint {
namespace {

namespace fs = std::filesystem;

Error failed(const char* what, const fs::path& path, int why) {
    return system_error(fmt::format("{} {}", what, path.string()), why);
}

struct flock record(std::uint64_t at, short type) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(at);
    lock.l_len = 1;
    return lock;
}

}  // namespace

SegmentFile::SegmentFile(UniqueFd fd, std::byte* memory, SegmentFacts facts)
    : fd_(std::move(fd)), memory_(memory), facts_(std::move(facts)) {}

SegmentFile::SegmentFile(SegmentFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)),
      facts_(std::move(other.facts_)) {}

SegmentFile& SegmentFile::operator=(SegmentFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(memory_, other.memory_);
    std::swap(facts_, other.facts_);
    return *this;
}

SegmentFile::~SegmentFile() {
    if (memory_ != nullptr) ::munmap(memory_, shape().bytes());
}

Result<SegmentFile> SegmentFile::map(UniqueFd fd, std::uint64_t bytes, SegmentFacts facts) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED)
        return system_error(fmt::format("map a segment of {} bytes", bytes), errno);
    return SegmentFile(std::move(fd), static_cast<std::byte*>(memory), std::move(facts));
}

Result<SegmentFile> SegmentFile::create(const fs::path& path, const SegmentOwner& owner,
                                        const SegmentShape& shape) {
    TRY_VOID(check_shape(shape));
    if (owner.job.size() >= SegmentHeader{}.job.size() || owner.job.contains('\0'))
        return Error(Code::kInvalid, "the name of the job is too long for a segment");
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd)
        return errno == EEXIST ? Error(Code::kAlreadyExists, path.string() + " is there already")
                               : failed("create", path, errno);
    if (const int why = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(shape.bytes()));
        why != 0) {
        ::unlink(path.c_str());
        if (why != ENOSPC) return failed("reserve memory for", path, why);
        return Error(Code::kUnavailable,
                     fmt::format("{} has no room for {} slots of {} bytes",
                                 path.parent_path().string(), shape.slots, shape.capacity));
    }
    auto made = map(std::move(fd), shape.bytes(), {.owner = owner, .shape = shape});
    if (!made) {
        ::unlink(path.c_str());
        return made;
    }
    const SegmentHeader header = make_header(owner, shape);
    std::memcpy(made->memory_, &header, sizeof header);
    return made;
}

Result<SegmentFile> SegmentFile::open(const fs::path& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd)
        return errno == ENOENT ? Error(Code::kNotFound, path.string() + " is not there")
                               : failed("open", path, errno);
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return failed("look at", path, errno);
    if (!S_ISREG(facts.st_mode))
        return Error(Code::kInvalid, path.string() + " is not a checkpoint segment: no file");
    if (facts.st_uid != ::geteuid())
        return Error(Code::kForbidden, path.string() + " belongs to another user");
    SegmentHeader header{};
    const ssize_t read = ::pread(fd.get(), &header, sizeof header, 0);
    if (read < 0) return failed("read", path, errno);
    const auto file_bytes = static_cast<std::uint64_t>(facts.st_size);
    auto known = read_header(header, file_bytes);
    if (!known) return Error(known.error()).prefix(path.string());
    return map(std::move(fd), file_bytes, *std::move(known));
}

std::atomic_ref<std::uint64_t> SegmentFile::word(std::uint64_t at) const {
    static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free, "between processes");
    CHECK(at % sizeof(std::uint64_t) == 0, "a word of a segment is aligned");
    return std::atomic_ref(
        *reinterpret_cast<std::uint64_t*>(bytes(at, sizeof(std::uint64_t)).data()));
}

std::span<std::byte> SegmentFile::bytes(std::uint64_t begin, std::uint64_t count) const {
    CHECK(begin <= shape().bytes() && count <= shape().bytes() - begin, "within the segment");
    return {memory_ + begin, count};
}

SlotHeader SegmentFile::slot_header(std::uint32_t slot) const {
    SlotHeader header{};
    std::memcpy(&header, bytes(shape().slot_begin(slot), sizeof header).data(), sizeof header);
    return header;
}

std::span<std::byte> SegmentFile::image(std::uint32_t slot) const {
    return bytes(shape().slot_begin(slot) + kPage, shape().capacity);
}

void SegmentFile::touch(std::uint32_t slot) const {
    const std::span<std::byte> all = bytes(shape().slot_begin(slot), shape().slot_bytes());
    // A kernel before 5.14 can't: then the first save does it, as it goes.
    ::madvise(all.data(), all.size(), MADV_POPULATE_WRITE);
}

Result<UniqueFd> SegmentFile::open_again() const {
    const std::string path = fmt::format("/proc/self/fd/{}", fd_.get());
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return system_error("open a segment again by " + path, errno);
    return fd;
}

Result<bool> try_lock(int fd, std::uint64_t at, LockKind kind) {
    struct flock lock = record(at, kind == LockKind::kShared ? F_RDLCK : F_WRLCK);
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    return system_error("lock a slot of a segment", errno);
}

Result<bool> is_locked(int fd, std::uint64_t at) {
    struct flock lock = record(at, F_WRLCK);
    if (::fcntl(fd, F_OFD_GETLK, &lock) != 0)
        return system_error("look for the lock of a slot", errno);
    return lock.l_type != F_UNLCK;
}

void unlock(int fd, std::uint64_t at) {
    struct flock lock = record(at, F_UNLCK);
    CHECK(::fcntl(fd, F_OFD_SETLK, &lock) == 0, "a lock can always be given back");
}

}  // namespace muster::checkpoint
