#include "runtime/internal/lifecycle/termination_message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "base/utf8.h"
#include "pod_init/cri_log.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMaxLogText = 2048;
constexpr std::size_t kMaxLogLines = 80;
/// Holds 80 lines of ordinary length, and any text of 2048 bytes.
constexpr std::size_t kLogBytes = 4 * pod_init::CriEncoder::kPiece;

/// The last bytes of a regular file. On failure errno tells why.
std::string tail_of(const std::filesystem::path& path, std::size_t most, bool& failed) {
    failed = true;
    // Opening a pipe instead must not block.
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info{};
    if (!file || ::fstat(file.get(), &info) < 0) return {};
    const auto size = static_cast<std::size_t>(std::max<off_t>(0, info.st_size));
    std::string text(std::min(size, most), '\0');
    const ssize_t got =
        ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
    if (got < 0) return {};
    text.resize(static_cast<std::size_t>(got));
    failed = false;
    return text;
}

std::string tail_of_log(const std::filesystem::path& path) {
    bool failed = false;
    const std::string file = tail_of(path, kLogBytes, failed);
    std::string text;
    for (std::string_view left = file; !left.empty();) {
        const std::size_t end = left.find('\n');
        // The first may be cut; then it is not a CRI line, or one without its beginning.
        if (const auto line = pod_init::parse_cri_line(left.substr(0, end))) {
            text += line->text;
            if (line->full) text += '\n';
        }
        left = end == left.npos ? std::string_view() : left.substr(end + 1);
    }
    std::size_t begin = text.size() - (text.ends_with('\n') ? 1 : 0);
    for (std::size_t lines = 0; begin > 0; --begin)
        if (text[begin - 1] == '\n' && ++lines == kMaxLogLines) break;
    if (text.size() - begin > kMaxLogText) begin = text.size() - kMaxLogText;
    return text.substr(begin);
}

}  // namespace

std::string read_termination_message(const std::filesystem::path& file,
                                     const std::filesystem::path& log, bool from_log) {
    bool failed = false;
    std::string message = tail_of(file, kMaxMessage, failed);
    if (failed && errno != ENOENT)
        return fmt::format("Error on reading termination log {}: {}", file.string(),
                           std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
    if (message.empty() && from_log) message = tail_of_log(log);
    // A program may write any bytes, and a cut may leave half a character.
    return as_utf8(message);
}

}  // namespace muster::runtime
