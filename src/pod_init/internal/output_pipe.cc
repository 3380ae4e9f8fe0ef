#include "pod_init/internal/output_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster::pod_init {

Result<process::Pipe> make_output_pipe() {
    TRY(process::Pipe made, process::make_pipe("making a pipe for a container's output"));
    if (::fcntl(made.reader.get(), F_SETFL, O_NONBLOCK) < 0)
        return system_error("making a container's output non-blocking", errno);
    return made;
}

std::optional<std::string_view> read_piece(const UniqueFd& output, std::span<char> buffer) {
    const ssize_t size = ::read(output.get(), buffer.data(), buffer.size());
    if (size > 0) return std::string_view(buffer.data(), static_cast<std::size_t>(size));
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::string_view();
    return std::nullopt;
}

}  // namespace muster::pod_init
