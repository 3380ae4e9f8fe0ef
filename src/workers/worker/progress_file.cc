#include "workers/worker/progress_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace muster::workers {

namespace {

constexpr off_t kSize = 64;

}  // namespace

Result<ProgressFile> ProgressFile::create(const std::filesystem::path& path) {
    ::unlink(path.c_str());
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return system_error("making the progress file " + path.string(), errno);
    // Allocates its block now: if the disk were full later, a store into the mapping would crash.
    if (const int error = ::posix_fallocate(file.get(), 0, kSize); error != 0)
        return system_error("making the progress file " + path.string(), error);
    return ProgressFile(std::move(file));
}

Result<ProgressFile> ProgressFile::open(const std::filesystem::path& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return system_error("opening the progress file " + path.string(), errno);
    return ProgressFile(std::move(file));
}

std::uint64_t ProgressFile::word(int index) const {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t value = 0;
    const auto size = static_cast<ssize_t>(sizeof value);
    if (::pread(file_.get(), &value, sizeof value, index * size) != size) return 0;
    return value;
}

}  // namespace muster::workers
