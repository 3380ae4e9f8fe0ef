#include "checkpoint/storage/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "base/visible_text.h"
#include "checkpoint/storage/storage_failure.h"

namespace muster::checkpoint {
namespace {

/// If the file's name is another file's each time that it is locked, its directory is being removed over and over.
constexpr int kMostTries = 8;

class FileLock final : public StorageLock {
  public:
    explicit FileLock(UniqueFd file) : file_(std::move(file)) {}
    // The name stays: who removes it, while others wait for the lock of the same file, has them wait for different ones.
    ~FileLock() override { ::ftruncate(file_.get(), 0); }

  private:
    UniqueFd file_;
};

std::string this_machine() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

/// Who has it, as they say; they may be writing it.
std::string holder_of(int file) {
    std::array<char, 1024> text{};
    const ssize_t read = ::pread(file, text.data(), text.size(), 0);
    std::string_view said(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
    said = said.substr(0, said.find('\n'));
    return said.empty() ? "another process" : visible_line(said);
}

/// False: the file has no name, or the name is of another file.
bool is_named(int file, int directory, const std::string& name) {
    struct stat open{};
    struct stat named{};
    return ::fstat(file, &open) == 0 &&
           ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Result<void> lock_all_of(int file, const std::string& path) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file, F_OFD_SETLK, &lock) == 0) return {};
    if (errno == EAGAIN || errno == EACCES)
        return Error(Code::kConflict, fmt::format("{} is locked: {}", path, holder_of(file)));
    return storage_failure("lock", path, errno);
}

}  // namespace

Result<std::unique_ptr<StorageLock>> lock_file(int directory, const std::string& name,
                                               const std::string& path, std::string_view purpose) {
    for (int tries = 0; tries < kMostTries; ++tries) {
        UniqueFd file(::openat(directory, name.c_str(),
                               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
        if (!file) return storage_failure("open", path, errno);
        TRY_VOID(lock_all_of(file.get(), path));
        if (!is_named(file.get(), directory, name)) continue;
        const std::string who =
            fmt::format("{}, by process {} on {}\n", purpose, ::getpid(), this_machine());
        if (::ftruncate(file.get(), 0) != 0) return storage_failure("write", path, errno);
        // A full disk keeps others from reading who it is, and from nothing else.
        static_cast<void>(write_all(file.get(), who));
        return std::make_unique<FileLock>(std::move(file));
    }
    return Error(Code::kUnavailable,
                 fmt::format("lock {}: it is removed each time that it was made", path));
}

}  // namespace muster::checkpoint
