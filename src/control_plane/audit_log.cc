#include "control_plane/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "apiserver_http/metric_family.h"
#include "base/log.h"
#include "control_plane/daemon/numbered_files.h"

namespace muster::control_plane {

Result<std::unique_ptr<AuditLog>> AuditLog::open(std::filesystem::path path,
                                                 AuditLogLimits limits) {
    std::unique_ptr<AuditLog> log(new AuditLog(std::move(path), limits));
    if (Result<void> opened = log->open_file(); !opened) {
        opened.error().prefix(fmt::format("the audit log {}", log->path_.string()));
        return opened.error();
    }
    return log;
}

AuditLog::~AuditLog() {
    if (file_ >= 0) ::close(file_);
}

Result<void> AuditLog::open_file() {
    // Non-blocking, so that a pipe without a reader is refused instead of waited for.
    const int file = ::open(
        path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return system_error("can't be opened", errno);
    struct stat status{};
    Result<void> ours;
    if (::fstat(file, &status) != 0)
        ours = system_error("can't be examined", errno);
    else if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
        ours = Error(Code::kForbidden, "is not a file of this user");
    else if (::fchmod(file, 0600) != 0)
        ours = system_error("can't be made private", errno);
    if (!ours) {
        ::close(file);
        return ours;
    }
    file_ = file;
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (std::exchange(left_, false))
        log::warning("the audit log was deleted or moved; another one was begun in its place",
                     {{"file", path_.string()}});
    return {};
}

/// Asked for each line: whoever moves the file, such as logrotate, need not tell this process.
void AuditLog::leave_lost_file() {
    if (file_ < 0 || is_open_at(file_, path_)) return;
    ::close(std::exchange(file_, -1));
    size_ = 0;
    left_ = true;
}

Result<void> AuditLog::append(std::string_view text) {
    if (file_ < 0) TRY_VOID(open_file());
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = ::write(file_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            const int why = written < 0 ? errno : ENOSPC;
            // Half a line would spoil the next one as well.
            if (rest.size() < text.size() && ::ftruncate(file_, static_cast<off_t>(size_)) != 0)
                return system_error("has half a line that can't be taken back", errno);
            return system_error("can't be written", why);
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    size_ += text.size();
    return {};
}

Result<void> AuditLog::rotate() {
    TRY_VOID(renumber_files(path_, limits_.kept));
    if (limits_.kept == 0 && ::unlink(path_.c_str()) != 0 && errno != ENOENT)
        return system_error("can't be removed", errno);
    ::close(std::exchange(file_, -1));
    return open_file();
}

void AuditLog::write(std::string line) {
    line += '\n';
    ++events_;
    leave_lost_file();
    if (size_ > 0 && size_ + line.size() > limits_.file_bytes) {
        const Result<void> rotated = rotate();
        if (!rotated && !oversized_)
            log::error("the audit log grows beyond its size",
                       {{"file", path_.string()}, {"error", rotated.error().message()}});
        oversized_ = !rotated;
    }
    tell(append(line));
}

void AuditLog::tell(const Result<void>& written) {
    const bool failed_before = lost_ != lost_before_;
    if (written) {
        if (failed_before)
            log::warning("the audit log can be written again",
                         {{"file", path_.string()}, {"lost events", lost_ - lost_before_}});
        lost_before_ = lost_;
        return;
    }
    ++lost_;
    if (!failed_before)
        log::error("the audit log loses events; free space or repair its directory",
                   {{"file", path_.string()}, {"error", written.error().message()}});
}

std::vector<prometheus::MetricFamily> AuditLog::metrics() const {
    using apiserver_http::family;
    constexpr auto kCounter = prometheus::MetricType::Counter;
    return {family("apiserver_audit_event_total", "Events for the audit log.", kCounter,
                   static_cast<double>(events_)),
            family("apiserver_audit_error_total", "Events that the audit log lost.", kCounter,
                   "plugin", {{"log", static_cast<double>(lost_)}})};
}

}  // namespace muster::control_plane
