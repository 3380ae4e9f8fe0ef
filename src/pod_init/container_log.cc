#include "pod_init/container_log.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>

#include "base/time/real_clock.h"
#include "base/time/rfc3339.h"

namespace muster::pod_init {

namespace {
std::string stamp() { return format_rfc3339(RealClock().wall_now(), 9); }
}  // namespace

Result<ContainerLog> ContainerLog::open(UniqueFd directory, std::string name, LogLimits limits) {
    ContainerLog log(std::move(directory), std::move(name), limits);
    TRY_VOID(log.begin_file());
    return log;
}

Result<void> ContainerLog::begin_file() {
    file_.reset(
        ::openat(directory_.get(), name_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    if (!file_) return system_error("making the log file " + name_, errno);
    size_ = 0;
    return {};
}

void ContainerLog::write(LogStream stream, std::string_view bytes) {
    encoder_.feed(stream, bytes, stamp(), lines_);
    store();
}

std::string ContainerLog::finish() {
    encoder_.finish(stamp(), lines_);
    store();
    file_.reset();
    if (lost_bytes_ == 0) return {};
    return fmt::format("{} bytes of its log are lost: {}", lost_bytes_, first_failure_);
}

void ContainerLog::store() {
    // The container keeps running whatever happens here; its output is lost until there is room
    // again.
    for (std::string_view left = lines_; !left.empty();) {
        const std::size_t size = fitting(left);
        if (auto stored = append(left.substr(0, size)); !stored) {
            lost_bytes_ += size;
            if (first_failure_.empty()) first_failure_ = stored.error().message();
        }
        left.remove_prefix(size);
    }
    lines_.clear();
}

/// As many whole lines as the file has room for, at least one.
std::size_t ContainerLog::fitting(std::string_view lines) const {
    const std::uint64_t room = limits_.bytes - std::min(limits_.bytes, size_);
    if (lines.size() <= room) return lines.size();
    const std::size_t end = room == 0 ? lines.npos : lines.rfind('\n', room - 1);
    return (end == lines.npos ? lines.find('\n') : end) + 1;
}

Result<void> ContainerLog::append(std::string_view lines) {
    if (size_ > 0 && size_ + lines.size() > limits_.bytes) turn_over();
    if (!file_) TRY_VOID(begin_file());
    while (!lines.empty()) {
        const ssize_t written = ::write(file_.get(), lines.data(), lines.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return system_error("writing a container's log", errno);
        }
        lines.remove_prefix(static_cast<std::size_t>(written));
        size_ += static_cast<std::uint64_t>(written);
    }
    return {};
}

void ContainerLog::turn_over() {
    file_.reset();
    // Readers follow a file by its inode, so they lose nothing by renaming.
    for (std::uint32_t age = limits_.files; age > 1; --age)
        ::renameat(directory_.get(), log_file_name(name_, age - 2).c_str(), directory_.get(),
                   log_file_name(name_, age - 1).c_str());
    if (limits_.files == 1) ::unlinkat(directory_.get(), name_.c_str(), 0);
}

}  // namespace muster::pod_init
