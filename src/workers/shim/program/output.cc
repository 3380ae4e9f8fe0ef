#include "workers/shim/program/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace muster::workers {

namespace {

constexpr std::size_t kChunk = std::size_t{64} * 1024;

}  // namespace

Output::Output(const OutputOrder& order, const ShimOrder& all, int own) : own_(own) {
    take(order, all);
}

void Output::take(const OutputOrder& order, const ShimOrder& all) {
    order_ = order;
    rotated_ = all.rotate_bytes > 0;
    if (order_.inherit) return;
    if (!order_.file.empty()) file_.emplace(order_.file, all.rotate_bytes, all.rotate_files);
    if (order_.console) lines_.emplace(order_.prefix);
    if (!order_.filtered.empty()) filtered_.emplace(order_);
}

Output::~Output() { close(); }

int Output::open() {
    if (order_.inherit) return ::fcntl(own_, F_DUPFD_CLOEXEC, 3);
    if (!file_ && !lines_) return ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (file_) file_->open();
    if (filtered_) filtered_->file.open();
    if (lines_) {
        open_console();
        if (file_ && !rotated_) reader_ = file_->open_reader();
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return -1;
    pipe_ = ends[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
    return ends[1];
}

/// Opens the console again for non-blocking writes, because the flag would otherwise affect every
/// process that shares the stream. A regular file needs no flag: it accepts everything at once.
void Output::open_console() {
    struct stat info{};
    if (::fstat(own_, &info) < 0) return lose_console(errno);
    if (!S_ISREG(info.st_mode)) {
        char path[32];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", own_);
        console_ = ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        has_own_console_ = console_ >= 0;
    }
    // For instance a socket: use it as it is.
    if (console_ < 0) console_ = ::fcntl(own_, F_DUPFD_CLOEXEC, 0);
    if (console_ < 0) lose_console(errno);
}

bool Output::is_behind() const {
    return console_error_ == 0 && lines_ &&
           (read_from_ || lines_->waiting() > 0 || (ended_ && !finished_));
}

bool Output::must_wait() const {
    return console_error_ == 0 && lines_ && reader_ < 0 && lines_->full();
}

void Output::read(bool all) {
    static char buffer[kChunk];
    // No more than this can be left of a worker that has ended.
    const int capacity = all && pipe_ >= 0 ? ::fcntl(pipe_, F_GETPIPE_SZ) : 0;
    for (ssize_t left = std::max<ssize_t>(capacity, 1); pipe_ >= 0 && left > 0;) {
        const ssize_t size = ::read(pipe_, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) break;
        if (size <= 0) {
            finish();
            break;
        }
        left -= size;
        distribute({buffer, static_cast<std::size_t>(size)});
        write_console();
    }
    write_console();
}

void Output::distribute(std::string_view bytes) {
    const std::uint64_t begin = file_ ? file_->size() : 0;
    if (file_) file_->write(bytes);
    if (filtered_) filtered_->file.write(filtered_->lines.add(bytes));
    if (!lines_ || read_from_) return;
    if (console_error_ != 0)
        unshown_ += bytes.size();
    else if (lines_->full() && reader_ >= 0)
        read_from_ = begin;
    else
        lines_->add(bytes);
}

/// Gives the console what only the file has, once there is room for it.
void Output::read_back() {
    static char buffer[kChunk];
    while (read_from_ && !lines_->full()) {
        const std::uint64_t left = file_->size() - std::min(file_->size(), *read_from_);
        const ssize_t size = ::pread(reader_, buffer, std::min<std::uint64_t>(left, sizeof buffer),
                                     static_cast<off_t>(*read_from_));
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) {
            unshown_ += left;  // another process has shortened the file
            read_from_.reset();
            break;
        }
        lines_->add({buffer, static_cast<std::size_t>(size)});
        *read_from_ += static_cast<std::uint64_t>(size);
        if (*read_from_ >= file_->size()) read_from_.reset();
    }
    if (ended_ && !read_from_ && !finished_) {
        finished_ = true;
        lines_->finish();
    }
}

void Output::write_console() {
    if (!lines_ || console_error_ != 0) return;
    for (;;) {
        read_back();
        const std::string_view text = lines_->next();
        if (text.empty() || !lock_console()) return;
        const bool was_mid_line = lines_->mid_line();
        const ssize_t written = ::write(console_, text.data(), text.size());
        const int error = written < 0 ? errno : 0;
        if (written > 0) {
            lines_->written(static_cast<std::size_t>(written));
            shown_ += static_cast<std::uint64_t>(written);
        }
        if (!lines_->mid_line()) unlock_console();
        if (was_mid_line && !lines_->mid_line()) {
            blocked_ = has_own_console_;  // others could not write for some time: it is their turn
            return;
        }
        if (error == EINTR) continue;
        if (error == EAGAIN) return;
        if (error != 0) return lose_console(error);
    }
}

/// Until a line is written, no other worker may write to the console. Others try again: a lock can't
/// be polled for.
bool Output::lock_console() {
    if (has_own_console_ && !locked_) locked_ = ::flock(console_, LOCK_EX | LOCK_NB) == 0;
    blocked_ = has_own_console_ && !locked_ && errno == EWOULDBLOCK;
    return !blocked_;
}

void Output::unlock_console() {
    if (locked_) ::flock(console_, LOCK_UN);
    locked_ = false;
}

std::uint64_t Output::unshown_bytes() const {
    std::uint64_t bytes = unshown_;
    if (!lines_) return bytes;
    bytes += lines_->waiting();
    if (read_from_) bytes += file_->size() - std::min(file_->size(), *read_from_);
    return bytes;
}

void Output::lose_console(int error) {
    unshown_ = unshown_bytes();
    console_error_ = error;
    read_from_.reset();
    if (lines_) lines_->give_up();
    unlock_console();
}

void Output::finish() {
    if (pipe_ >= 0) ::close(pipe_);
    pipe_ = -1;
    if (ended_) return;
    ended_ = true;
    if (filtered_) filtered_->file.write(filtered_->lines.finish());
}

void Output::close() {
    finish();
    for (int* const fd : {&console_, &reader_}) {
        if (*fd >= 0) ::close(*fd);
        *fd = -1;
    }
}

}  // namespace muster::workers
