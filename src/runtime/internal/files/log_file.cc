#include "runtime/internal/files/log_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "pod_init/container_log.h"

namespace muster::runtime {

namespace {

Result<UniqueFd> open_directory_of(const std::filesystem::path& path) {
    const std::filesystem::path parent = path.parent_path();
    UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return system_error("opening the directory " + parent.string(), errno);
    return directory;
}

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::create(asio::any_io_executor executor,
                                                 std::filesystem::path path) {
    UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    if (!file) return system_error("making the log file " + path.string(), errno);
    TRY(UniqueFd directory, open_directory_of(path));
    return std::make_shared<LogFile>(std::move(executor), std::move(path), std::move(directory));
}

Result<std::shared_ptr<LogFile>> LogFile::open(asio::any_io_executor executor,
                                               std::filesystem::path path) {
    TRY(auto log, follow(std::move(executor), std::move(path)));
    log->finish();
    return log;
}

Result<std::shared_ptr<LogFile>> LogFile::follow(asio::any_io_executor executor,
                                                 std::filesystem::path path) {
    TRY(UniqueFd directory, open_directory_of(path));
    return std::make_shared<LogFile>(std::move(executor), std::move(path), std::move(directory));
}

void LogFile::discard() const {
    const std::string name = path_.filename();
    for (std::uint32_t age = 0;
         ::unlinkat(directory_.get(), pod_init::log_file_name(name, age).c_str(), 0) == 0; ++age) {
    }
}

Result<std::unique_ptr<LogWatch>> LogWatch::create(asio::any_io_executor executor) {
    UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!inotify)
        return system_error(
            "watching log files (inotify_init; the sysctl fs.inotify.max_user_instances limits it)",
            errno);
    return std::make_unique<LogWatch>(std::move(executor), std::move(inotify));
}

Result<void> LogWatch::follow(const std::shared_ptr<LogFile>& log) {
    const std::filesystem::path directory = log->path().parent_path();
    const int watch = ::inotify_add_watch(inotify_.native_handle(), directory.c_str(),
                                          IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    if (watch < 0)
        return system_error(
            fmt::format("watching {} (the sysctl fs.inotify.max_user_watches limits it)",
                        directory.string()),
            errno);
    auto& logs = followed_[watch];
    std::erase_if(logs, [](const std::weak_ptr<LogFile>& other) { return other.expired(); });
    const bool known = std::ranges::any_of(logs, [&](const std::weak_ptr<LogFile>& other) {
        return !other.owner_before(log) && !log.owner_before(other);
    });
    if (!known) logs.push_back(log);
    return {};
}

Task<void> LogWatch::run() {
    // After a fault: some changes may have been read and told to no one.
    for (const auto& [watch, logs] : followed_) notify(watch);
    for (;;) {
        co_await inotify_.async_wait(asio::posix::stream_descriptor::wait_read,
                                     asio::use_awaitable);
        alignas(inotify_event) std::array<char, 16 * 1024> buffer;
        const ssize_t size = ::read(inotify_.native_handle(), buffer.data(), buffer.size());
        for (ssize_t at = 0; at < size;) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            at += static_cast<ssize_t>(sizeof event + event.len);
            if ((event.mask & IN_Q_OVERFLOW) != 0) {
                for (const auto& [watch, logs] : followed_) notify(watch);
            } else if ((event.mask & IN_IGNORED) != 0) {
                followed_.erase(event.wd);  // its directory is gone
            } else {
                notify(event.wd);
            }
        }
    }
}

void LogWatch::notify(int watch) {
    auto it = followed_.find(watch);
    if (it == followed_.end()) return;
    for (const std::weak_ptr<LogFile>& weak : it->second)
        if (auto log = weak.lock()) log->changed().notify_all();
}

}  // namespace muster::runtime
