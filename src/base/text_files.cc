#include "base/text_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"

namespace muster {

Result<std::string> read_text(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error("reading " + path, errno);
    std::string text;
    std::array<char, 8192> buffer;
    ssize_t size = 0;
    while ((size = ::read(file.get(), buffer.data(), buffer.size())) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(size));
    if (size < 0) return system_error("reading " + path, errno);
    return text;
}

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : ENOSPC;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace muster
