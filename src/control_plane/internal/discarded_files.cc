#include "control_plane/internal/discarded_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace muster::control_plane {

namespace fs = std::filesystem;

namespace {

/// What is deeper stays: each level takes a descriptor and a frame of the stack.
constexpr int kDeepest = 500;
/// No namespace has such a name.
constexpr const char* kWaiting = ".discarded";

bool remove_below(int directory, const char* name, const std::atomic<bool>& stop, int depth) {
    if (::unlinkat(directory, name, 0) == 0 || errno == ENOENT) return true;
    if ((errno != EISDIR && errno != EPERM) || depth == kDeepest) return false;
    const int fd = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR* const entries = fd < 0 ? nullptr : ::fdopendir(fd);
    if (entries == nullptr) {
        if (fd >= 0) ::close(fd);
        return false;
    }
    bool gone = true;
    while (const dirent* entry = ::readdir(entries)) {  // NOLINT(concurrency-mt-unsafe)
        const std::string_view each(entry->d_name);
        if (each == "." || each == "..") continue;
        gone = !stop.load() && remove_below(fd, entry->d_name, stop, depth + 1) && gone;
        if (stop.load()) break;
    }
    ::closedir(entries);
    return gone && ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool remove_tree(int directory, const char* name, const std::atomic<bool>& stop) {
    return remove_below(directory, name, stop, 0);
}

DiscardedFiles::DiscardedFiles(asio::any_io_executor executor, fs::path root)
    : root_(std::move(root)), waiting_(root_ / kWaiting), tasks_(std::move(executor)) {}

DiscardedFiles::~DiscardedFiles() { stop_->store(true); }

void DiscardedFiles::start() {
    std::error_code missing;
    if (fs::exists(waiting_, missing)) begin();
}

Result<void> DiscardedFiles::discard(const fs::path& directory) {
    const std::string path = directory.lexically_normal().string();
    if (!path.starts_with(root_.string() + "/"))
        return Error(Code::kInvalid, fmt::format("{} is not below {}", path, root_.string()));
    if (::mkdir(waiting_.c_str(), 0700) < 0 && errno != EEXIST) {
        if (errno == ENOENT) return {};  // no volume was ever mounted
        return system_error("making " + waiting_.string(), errno);
    }
    const fs::path target = waiting_ / directory.filename();
    if (::rename(path.c_str(), target.c_str()) < 0) {
        if (errno == ENOENT) return {};
        return system_error(fmt::format("moving {} to {}", path, target.string()), errno);
    }
    begin();
    return {};
}

void DiscardedFiles::begin() {
    more_ = true;
    if (std::exchange(removes_, true)) return;
    tasks_.spawn("files of volumes", remove_all(), [this](const std::string& what) {
        removes_ = false;
        log::warning("files of volumes that are gone stay until the next start", {{"error", what}});
    });
}

Task<void> DiscardedFiles::remove_all() {
    while (std::exchange(more_, false) && !stop_->load()) {
        const bool gone =
            co_await thread_.run("remove volumes", [path = waiting_.string(), stop = stop_] {
                return remove_tree(AT_FDCWD, path.c_str(), *stop);
            });
        if (!gone && !more_ && !stop_->load())
            log::warning("files of volumes that are gone stay until the next start",
                         {{"directory", waiting_.string()}});
    }
    removes_ = false;
}

Task<void> DiscardedFiles::stop() {
    stop_->store(true);
    co_await tasks_.stop();
}

}  // namespace muster::control_plane
