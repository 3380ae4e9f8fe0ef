#include "store/internal/file/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "store/internal/file/sqlite.h"

namespace muster::store {

namespace {

std::string holder_of(int fd) {
    char text[32];
    const ssize_t size = pread(fd, text, sizeof text, 0);
    std::string holder;
    for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) holder += text[i];
    return holder.empty() ? "another process" : "process " + holder;
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
    const std::string beside = path + "-lock";
    const int fd = open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return file_system_error(beside, "opening", errno);
    FileLock lock(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return file_system_error(beside, "locking", errno);
        return file_error(path, "opening", holder_of(fd) + " has it open",
                          "end that one first, or name another path");
    }
    const std::string own = fmt::format("{}\n", getpid());
    if (ftruncate(fd, 0) != 0 ||
        pwrite(fd, own.data(), own.size(), 0) != static_cast<ssize_t>(own.size()))
        return file_system_error(beside, "writing", errno);
    return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
    if (fd_ >= 0) close(fd_);
}

}  // namespace muster::store
