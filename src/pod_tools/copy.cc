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
    std::string path = to + ".XXXXXX";
    File target(::mkostemp(path.data(), O_CLOEXEC));
    const auto failed = [&](int why) { return system_error(fmt::format("writing {}", to), why); };
    if (target.get() < 0) return failed(errno);
    Unfinished unfinished(path);
    if (!copy_bytes(source.get(), target.get()) || ::fchmod(target.get(), kForEverybody) != 0 ||
        !target.close() || !unfinished.rename(to))
        return failed(errno);
    return {};
}

}  // namespace muster::pod_tools
