#include "checkpoint/storage/direct_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "checkpoint/image/table.h"
#include "checkpoint/storage/storage_failure.h"

namespace muster::checkpoint {
namespace {

/// Of one call: Linux moves less than 2 GiB, and this is a multiple of kPage.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

/// A file by two descriptors, for each kind of I/O one.
class DirectFile {
  public:
    /// `access`: O_RDONLY or O_WRONLY, as `file` has it.
    DirectFile(UniqueFd file, std::string path, int access)
        : file_(std::move(file)), path_(std::move(path)) {
        // By the descriptor: the name may be another file's by now.
        const std::string again = fmt::format("/proc/self/fd/{}", file_.get());
        direct_file_ = UniqueFd(::open(again.c_str(), access | O_DIRECT | O_CLOEXEC));
        direct_works_.store(static_cast<bool>(direct_file_), std::memory_order_relaxed);
    }

    int fd() const { return file_.get(); }
    const std::string& path() const { return path_; }

    /// Calls `move(descriptor, address, count, place)`, which is pwrite or pread, until all `bytes` at `at` are moved, or it
    /// returns 0. How many were.
    template <class Byte, class Move>
    Result<std::size_t> move_all(const char* doing, std::uint64_t at, std::span<Byte> bytes,
                                 Move move) const {
        std::size_t moved = 0;
        while (moved < bytes.size()) {
            const std::uint64_t place = at + moved;
            const std::span<Byte> rest = bytes.subspan(moved);
            const bool direct = direct_works_.load(std::memory_order_relaxed) &&
                                rest.size() >= kPage && place % kPage == 0 &&
                                reinterpret_cast<std::uintptr_t>(rest.data()) % kPage == 0;
            std::size_t count = std::min(rest.size(), kMostAtOnce);
            if (direct) count -= count % kPage;
            const ssize_t done = move(direct ? direct_file_.get() : file_.get(), rest.data(), count,
                                      static_cast<off_t>(place));
            if (done == 0) break;
            if (done > 0) {
                moved += static_cast<std::size_t>(done);
                continue;
            }
            const int why = errno;
            if (why == EINTR) continue;
            // Some open a file for direct I/O and refuse it then.
            if (direct && why == EINVAL)
                direct_works_.store(false, std::memory_order_relaxed);
            else
                return storage_failure(doing, path_, why);
        }
        return moved;
    }

  private:
    UniqueFd file_;
    UniqueFd direct_file_;
    std::string path_;
    mutable std::atomic<bool> direct_works_ = false;
};

class NewDirectFile final : public NewFile {
  public:
    NewDirectFile(UniqueFd file, std::string path, std::uint64_t bytes)
        : file_(std::move(file), std::move(path), O_WRONLY), bytes_(bytes) {}

    Result<void> write(std::uint64_t at, std::span<const std::byte> bytes) override {
        if (at > bytes_ || bytes.size() > bytes_ - at)
            return Error(Code::kInvalid, fmt::format("write {}: {} bytes at {} are beyond its {}",
                                                     file_.path(), bytes.size(), at, bytes_));
        TRY(const std::size_t written, file_.move_all("write", at, bytes, ::pwrite));
        if (written < bytes.size()) return storage_failure("write", file_.path(), ENOSPC);
        return {};
    }

    Result<void> sync() override {
        if (::fsync(file_.fd()) != 0)
            return storage_failure("bring to the disk", file_.path(), errno);
        // What went by ordinary calls is in the page cache, where training needs the room.
        ::posix_fadvise(file_.fd(), 0, 0, POSIX_FADV_DONTNEED);
        return {};
    }

  private:
    DirectFile file_;
    std::uint64_t bytes_;
};

class StoredDirectFile final : public StoredFile {
  public:
    StoredDirectFile(UniqueFd file, std::string path, std::uint64_t bytes)
        : file_(std::move(file), std::move(path), O_RDONLY), bytes_(bytes) {}

    std::uint64_t bytes() const override { return bytes_; }

    Result<void> read(std::uint64_t at, std::span<std::byte> into) const override {
        TRY(const std::size_t read, file_.move_all("read", at, into, ::pread));
        if (read < into.size())
            return Error(Code::kInvalid, fmt::format("read {}: it ends after {} bytes, before {}",
                                                     file_.path(), at + read, at + into.size()));
        return {};
    }

  private:
    DirectFile file_;
    std::uint64_t bytes_;
};

int reserve(int fd, std::uint64_t bytes) {
    if (bytes == 0) return 0;
    const auto length = static_cast<off_t>(bytes);
    // Not posix_fallocate: where a file system can't, the C library writes to every block instead.
    while (::fallocate(fd, 0, 0, length) != 0) {
        if (errno == EINTR) continue;
        if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
        return ::ftruncate(fd, length) == 0 ? 0 : errno;
    }
    return 0;
}

}  // namespace

Result<std::unique_ptr<NewFile>> new_direct_file(UniqueFd file, std::string path,
                                                 std::uint64_t bytes) {
    if (std::cmp_greater(bytes, std::numeric_limits<off_t>::max()))
        return storage_failure(fmt::format("reserve {} bytes for", bytes), path, EFBIG);
    if (const int why = reserve(file.get(), bytes); why != 0)
        return storage_failure(fmt::format("reserve {} bytes for", bytes), path, why);
    return std::make_unique<NewDirectFile>(std::move(file), std::move(path), bytes);
}

Result<std::unique_ptr<StoredFile>> stored_direct_file(UniqueFd file, std::string path) {
    struct stat facts{};
    if (::fstat(file.get(), &facts) != 0) return storage_failure("look at", path, errno);
    if (!S_ISREG(facts.st_mode))
        return Error(Code::kInvalid, fmt::format("open {}: it is no file", path));
    return std::make_unique<StoredDirectFile>(std::move(file), std::move(path),
                                              static_cast<std::uint64_t>(facts.st_size));
}

}  // namespace muster::checkpoint
