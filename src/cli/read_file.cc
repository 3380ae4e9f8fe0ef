#include "cli/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cli/internal/manifest/manifest.h"

namespace muster::cli {

namespace {

/// At most this much is read of a file before it is refused for its size.
constexpr std::size_t kReadLimit = 64 * kMaxManifestBytes;

}  // namespace

Result<std::string> read_file(const std::string& file) {
    int descriptor = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error("cannot be read", errno);
    std::string text;
    std::string piece(65536, '\0');
    while (text.size() < kReadLimit) {
        ssize_t got = ::read(descriptor, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            Error error = system_error("cannot be read", errno);
            ::close(descriptor);
            return error;
        }
        if (got == 0) break;
        text.append(piece, 0, static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return text;
}

}  // namespace muster::cli
