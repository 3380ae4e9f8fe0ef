#include "workers/shim/program/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace muster::workers {

namespace {

/// Opens the console again for non-blocking writes, because the flag would otherwise affect every
/// process that shares the stream. A regular file needs no flag: it accepts everything at once. -1
/// on failure.
int open_console(int own) {
    struct stat info{};
    if (::fstat(own, &info) < 0) return -1;
    if (S_ISREG(info.st_mode)) return ::fcntl(own, F_DUPFD_CLOEXEC, 0);
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", own);
    const int console = ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    // For instance a socket: use it as it is.
    return console >= 0 ? console : ::fcntl(own, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

Output::Output(const OutputOrder& order, const ShimOrder& all, int own) : own_(own) {
    take(order, all);
}

void Output::take(const OutputOrder& order, const ShimOrder& all) {
    order_ = order;
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
    if (lines_) console_ = open_console(own_);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return -1;
    pipe_ = ends[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
    return ends[1];
}

int Output::console() const { return lines_ && !lines_->next().empty() ? console_ : -1; }

void Output::read(bool all) {
    static char buffer[std::size_t{64} * 1024];
    while (pipe_ >= 0) {
        const ssize_t size = ::read(pipe_, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) {
            finish();
            break;
        }
        const std::string_view bytes(buffer, static_cast<std::size_t>(size));
        if (file_) file_->write(bytes);
        if (lines_) lines_->add(bytes);
        if (filtered_) filtered_->file.write(filtered_->lines.add(bytes));
        write_console();
        if (!all) return;
    }
    write_console();
}

void Output::write_console() {
    if (!lines_) return;
    for (std::string_view line = lines_->next(); !line.empty(); line = lines_->next()) {
        const ssize_t written = console_ < 0 ? -1 : ::write(console_, line.data(), line.size());
        if (written < 0 && errno == EINTR && console_ >= 0) continue;
        if (written < 0 && errno == EAGAIN && console_ >= 0) return;
        if (written < 0) return lines_->give_up();
        lines_->written(static_cast<std::size_t>(written));
    }
}

void Output::finish() {
    ::close(pipe_);
    pipe_ = -1;
    if (lines_) lines_->finish();
    if (filtered_) filtered_->file.write(filtered_->lines.finish());
}

void Output::close() {
    if (pipe_ >= 0) {
        finish();
        write_console();
    }
    if (console_ >= 0) ::close(console_);
    console_ = -1;
}

}  // namespace muster::workers
