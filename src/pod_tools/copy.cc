#include "pod_tools/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace muster::pod_tools {

namespace {

constexpr mode_t kForEverybody = 0755;
constexpr std::size_t kPiece = std::size_t{1} << 20;

class File {
  public:
    explicit File(int fd) : fd_(fd) {}
    ~File() { (void)close(); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return fd_; }
    bool close() {
        const int fd = std::exchange(fd_, -1);
        return fd < 0 || ::close(fd) == 0;
    }

  private:
    int fd_;
};

/// Removed with this object, unless it has got its final name.
class Unfinished {
  public:
    explicit Unfinished(std::string path) : path_(std::move(path)) {}
    ~Unfinished() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    bool rename(const std::string& to) {
        if (::rename(path_.c_str(), to.c_str()) != 0) return false;
        path_.clear();
        return true;
    }

  private:
    std::string path_;
};

Error not_written(const std::string& to, int why) {
    return system_error(fmt::format("writing {}", to), why);
}

/// `fill` puts what is in it into its descriptor.
template <class Fill>
Result<void> make_file(const std::string& to, mode_t mode, Fill fill) {
    std::string path = to + ".XXXXXX";
    File target(::mkostemp(path.data(), O_CLOEXEC));
    if (target.get() < 0) return not_written(to, errno);
    Unfinished unfinished(path);
    if (!fill(target.get()) || ::fchmod(target.get(), mode) != 0 || !target.close() ||
        !unfinished.rename(to))
        return not_written(to, errno);
    return {};
}

bool write_bytes(std::string_view bytes, int to) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(to, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return true;
}

bool copy_bytes(int from, int to) {
    for (;;) {
        const ssize_t sent = ::sendfile(to, from, nullptr, kPiece);
        if (sent == 0) return true;
        if (sent < 0 && errno != EINTR) return false;
    }
}

}  // namespace

Result<void> copy_program(const std::string& from, const std::string& to) {
    const File source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (source.get() < 0) return system_error(fmt::format("reading {}", from), errno);
    return make_file(to, kForEverybody, [&](int file) { return copy_bytes(source.get(), file); });
}

Result<void> write_file(std::string_view bytes, const std::string& to, mode_t mode) {
    return make_file(to, mode, [&](int file) { return write_bytes(bytes, file); });
}

Result<void> make_link(const std::string& from, const std::string& to) {
    const std::string path = to + ".new";
    (void)::unlink(path.c_str());  // of one that was killed here
    if (::symlink(from.c_str(), path.c_str()) != 0) return not_written(to, errno);
    Unfinished unfinished(path);
    if (!unfinished.rename(to)) return not_written(to, errno);
    return {};
}

}  // namespace muster::pod_tools
