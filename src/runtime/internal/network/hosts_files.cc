#include "runtime/internal/network/hosts_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "runtime/internal/unique_fd.h"

namespace muster::runtime {

namespace {
constexpr Duration kGather = std::chrono::milliseconds(1);
constexpr int kRest = 4;  ///< for each part of its time that rewriting may take
}  // namespace

Result<void> HostsFiles::add(const std::string& namespace_, const std::string& pod,
                             const std::filesystem::path& path) {
    File file{namespace_, pod, {}};
    TRY_VOID(rewrite(path, file));
    files_.insert_or_assign(path, std::move(file));
    return {};
}

void HostsFiles::names_changed() {
    if (pending_ || files_.empty()) return;
    pending_ = true;
    tasks_.spawn("hosts files", rewrite_later());
}

Task<void> HostsFiles::rewrite_later() {
    // A job's pods and services come in a burst, and each changes all files.
    // With thousands of files a rewrite takes its time, and must not take all of it.
    co_await clock_.sleep_for(std::max(kGather, kRest * cost_));
    pending_ = false;
    const Instant begin = clock_.now();
    for (auto& [path, file] : files_) {
        auto written = rewrite(path, file);
        if (!written)
            log::error("a pod's /etc/hosts could not be rewritten; its names may be stale",
                       {{"pod", file.pod}, {"error", written.error().message()}});
    }
    cost_ = clock_.now() - begin;
}

Result<void> HostsFiles::rewrite(const std::filesystem::path& path, File& file) {
    std::string content = names_.hosts_file(file.namespace_, file.pod);
    if (content == file.content) return {};
    UniqueFd out(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    if (!out) return system_error("opening " + path.string(), errno);
    // Written before it is cut, so that a reader never finds it empty.
    if (::pwrite(out.get(), content.data(), content.size(), 0) !=
            static_cast<ssize_t>(content.size()) ||
        ::ftruncate(out.get(), static_cast<off_t>(content.size())) < 0 ||
        ::fchmod(out.get(), 0644) < 0)
        return system_error("writing " + path.string(), errno);
    file.content = std::move(content);
    return {};
}

}  // namespace muster::runtime
