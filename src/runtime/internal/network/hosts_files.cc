#include "runtime/internal/network/hosts_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "base/unique_fd.h"

namespace muster::runtime {

namespace {
constexpr Duration kGather = std::chrono::milliseconds(1);
constexpr int kRest = 4;  ///< for each part of its time that rewriting may take
}  // namespace

Result<std::filesystem::path> HostsFiles::add(const std::string& namespace_, const std::string& pod,
                                              const std::string& uid) {
    File file{.namespace_ = namespace_,
              .owner_uid = names_.owner_of(namespace_, pod),
              .own = names_.has_own_names(namespace_, pod) ? pod : std::string(),
              .content = {},
              .pods = {uid}};
    const std::filesystem::path path =
        directory_ / (file.own.empty() ? fmt::format("{}_{}.job", namespace_, file.owner_uid)
                                       : fmt::format("{}_{}.pod", namespace_, pod));
    if (auto there = files_.find(path); there != files_.end()) {
        there->second.pods.insert(uid);
        return path;
    }
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) return system_error("making the directory " + directory_.string(), error.value());
    if (!held_ || !std::filesystem::exists(path, error)) TRY_VOID(rewrite(path, file));
    files_.insert_or_assign(path, std::move(file));
    return path;
}

void HostsFiles::remove(const std::string& uid) {
    auto it = std::ranges::find_if(
        files_, [&](const auto& entry) { return entry.second.pods.contains(uid); });
    if (it == files_.end()) return;
    it->second.pods.erase(uid);
    if (!it->second.pods.empty()) return;
    std::error_code ignored;  // the directory is removed with the node
    std::filesystem::remove(it->first, ignored);
    files_.erase(it);
}

void HostsFiles::names_changed() {
    if (held_ || pending_ || files_.empty()) return;
    pending_ = true;
    spawn_restarting(tasks_, clock_, "hosts files", [this] { return rewrite_later(); });
}

void HostsFiles::release() {
    held_ = false;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error))
        if (!files_.contains(entry.path())) std::filesystem::remove(entry.path(), error);
    names_changed();
}

Task<void> HostsFiles::rewrite_later() {
    // A job's pods and services come in a burst, and each changes all files. With thousands of
    // files a rewrite takes its time, and must not take up all of it.
    co_await clock_.sleep_for(std::max(kGather, kRest * cost_));
    pending_ = false;
    const Instant begin = clock_.now();
    for (auto& [path, file] : files_) {
        auto written = rewrite(path, file);
        if (!written)
            log::error("a pod's /etc/hosts could not be rewritten; its names may be stale",
                       {{"file", path.string()}, {"error", written.error().message()}});
    }
    cost_ = clock_.now() - begin;
}

Result<void> HostsFiles::rewrite(const std::filesystem::path& path, File& file) {
    std::string content = file.own.empty() ? names_.hosts_of_owner(file.namespace_, file.owner_uid)
                                           : names_.hosts_of_pod(file.namespace_, file.own);
    if (content == file.content) return {};
    UniqueFd out(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    if (!out) return system_error("opening " + path.string(), errno);
    // Written before it is truncated, so that a reader never finds it empty.
    if (::pwrite(out.get(), content.data(), content.size(), 0) !=
            static_cast<ssize_t>(content.size()) ||
        ::ftruncate(out.get(), static_cast<off_t>(content.size())) < 0 ||
        ::fchmod(out.get(), 0644) < 0)
        return system_error("writing " + path.string(), errno);
    file.content = std::move(content);
    return {};
}

}  // namespace muster::runtime
