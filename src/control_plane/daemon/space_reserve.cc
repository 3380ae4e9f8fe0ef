#include "control_plane/daemon/space_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/unique_fd.h"

namespace muster::control_plane {

SpaceReserve::SpaceReserve(std::filesystem::path directory, std::uint64_t bytes)
    : directory_(std::move(directory)), file_(directory_ / "reserve"), bytes_(bytes) {
    struct statvfs disk{};
    if (::statvfs(directory_.c_str(), &disk) == 0)
        bytes_ = std::min<std::uint64_t>(bytes_, disk.f_blocks * disk.f_frsize / 8);
    (void)has_room();
}

bool SpaceReserve::is_free(std::uint64_t bytes) const {
    struct statvfs disk{};
    return ::statvfs(directory_.c_str(), &disk) < 0 || disk.f_bavail * disk.f_frsize >= bytes;
}

bool SpaceReserve::has_room() {
    struct stat info{};
    const bool set_aside_already = ::stat(file_.c_str(), &info) == 0;
    // Half of it is as much again as a burst of writes takes between two looks.
    if (set_aside_already) {
        if (is_free(bytes_ / 2)) return true;
        ::unlink(file_.c_str());
        log::warning("the disk is nearly full: nothing new is taken until there is room",
                     {{"directory", directory_.string()}});
        return false;
    }
    return is_free(2 * bytes_) && set_aside();
}

bool SpaceReserve::set_aside() const {
    const UniqueFd file(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return errno != ENOSPC && errno != EDQUOT;
    if (::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes_)) == 0) return true;
    const int error = errno;
    ::unlink(file_.c_str());
    return error != ENOSPC && error != EDQUOT;
}

}  // namespace muster::control_plane
