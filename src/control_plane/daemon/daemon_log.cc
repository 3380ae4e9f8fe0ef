#include "control_plane/daemon/daemon_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>
#include <utility>

#include "base/text_files.h"
#include "base/time/rfc3339.h"
#include "base/unique_fd.h"
#include "control_plane/daemon/numbered_files.h"

namespace muster::control_plane {

namespace {

std::string_view name_of(log::Level level) {
    switch (level) {
        case log::Level::kDebug:
            return "debug";
        case log::Level::kInfo:
            return "info";
        case log::Level::kWarning:
            return "warning";
        case log::Level::kError:
        case log::Level::kOff:
            break;
    }
    return "error";
}

}  // namespace

DaemonLog::DaemonLog(std::filesystem::path path, std::vector<int> outputs,
                     std::function<WallTime()> time, std::uint64_t file_bytes)
    : path_(std::move(path)),
      outputs_(std::move(outputs)),
      time_(std::move(time)),
      file_bytes_(file_bytes) {}

Result<void> DaemonLog::put_in_place() {
    const UniqueFd file(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return system_error("opening " + path_.string(), errno);
    for (const int output : outputs_)
        if (::dup2(file.get(), output) < 0)
            return system_error("writing to " + path_.string(), errno);
    return {};
}

Result<void> DaemonLog::open() {
    const std::lock_guard hold(mutex_);
    return put_in_place();
}

void DaemonLog::rotate() {
    if (renumber_files(path_, kKept)) std::ignore = put_in_place();
}

void DaemonLog::replace_lost_file() {
    if (is_open_at(outputs_.back(), path_) || !put_in_place()) return;
    std::ignore = write_all(
        outputs_.back(),
        with_time(log::Level::kWarning, "this log was deleted or moved; here another one begins"));
}

std::string DaemonLog::with_time(log::Level level, std::string_view line) const {
    return fmt::format("{} {} {}\n", format_rfc3339(time_(), 6), name_of(level), line);
}

void DaemonLog::write(log::Level level, std::string_view line) {
    const std::string whole = with_time(level, line);
    const std::lock_guard hold(mutex_);
    replace_lost_file();
    // Programs that it started write there, too.
    struct stat info{};
    if (::fstat(outputs_.back(), &info) == 0 && info.st_size > 0 &&
        static_cast<std::uint64_t>(info.st_size) + whole.size() > file_bytes_)
        rotate();
    // A full disk is something of which no log could tell.
    std::ignore = write_all(outputs_.back(), whole);
}

}  // namespace muster::control_plane
