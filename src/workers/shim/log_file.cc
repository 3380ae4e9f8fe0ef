#include "workers/shim/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace muster::workers {

LogFile::~LogFile() {
    if (fd_ >= 0) ::close(fd_);
}

void LogFile::open() {
    if (!open_now()) lose(0, errno);
}

namespace {

/// The names are known in advance: where another user could make a link before us, it would lead
/// what is written to a file of ours.
int open_log(const char* path) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
    const int fd = ::open(path, kFlags | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != ELOOP) return fd;
    struct stat link{};
    if (::lstat(path, &link) == 0 && link.st_uid == ::geteuid()) return ::open(path, kFlags, 0600);
    errno = EACCES;
    return -1;
}

}  // namespace

bool LogFile::open_now() {
    if (fd_ >= 0) return true;
    fd_ = open_log(path_.c_str());
    if (fd_ < 0) return false;
    struct stat info{};
    size_ = ::fstat(fd_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
    return true;
}

int LogFile::open_reader() const {
    struct stat info{};
    if (fd_ < 0 || ::fstat(fd_, &info) < 0 || !S_ISREG(info.st_mode)) return -1;
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd_);
    return ::open(path, O_RDONLY | O_CLOEXEC);
}

void LogFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!open_now()) return lose(bytes.size(), errno);
        if (most_ == 0 || size_ + bytes.size() <= most_) return write_all(bytes);
        const std::size_t room = size_ < most_ ? static_cast<std::size_t>(most_ - size_) : 0;
        const std::size_t line = bytes.substr(0, room).rfind('\n');
        // A line longer than a file is split.
        const std::size_t cut = line != bytes.npos ? line + 1 : size_ == 0 ? room : 0;
        write_all(bytes.substr(0, cut));
        bytes.remove_prefix(cut);
        rotate();
    }
}

void LogFile::write_all(std::string_view bytes) {
    if (untold_ > 0) {
        char note[128];
        const int length = std::snprintf(
            note, sizeof note, "\n[muster: %llu bytes are missing here: %s]\n",
            static_cast<unsigned long long>(untold_), ::strerrordesc_np(first_error_));
        const ssize_t written = ::write(fd_, note, static_cast<std::size_t>(length));
        if (written < length) {
            if (written > 0) size_ += static_cast<std::uint64_t>(written);
            return lose(bytes.size(), written < 0 ? errno : ENOSPC);
        }
        size_ += static_cast<std::uint64_t>(length);
        untold_ = 0;
    }
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return lose(bytes.size(), errno);
        size_ += static_cast<std::uint64_t>(written);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void LogFile::lose(std::size_t bytes, int error) {
    if (first_error_ == 0) first_error_ = error;
    lost_ += bytes;
    untold_ += bytes;
}

void LogFile::rotate() {
    for (std::uint32_t age = files_ - 1; age > 0; --age) {
        const std::string newer = age == 1 ? path_ : path_ + "." + std::to_string(age - 1);
        ::rename(newer.c_str(), (path_ + "." + std::to_string(age)).c_str());
    }
    ::close(fd_);
    fd_ = -1;
    if (files_ == 1) ::unlink(path_.c_str());
    size_ = 0;
}

}  // namespace muster::workers
