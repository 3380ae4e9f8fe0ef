#include "pod_init/internal/attach_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace muster::pod_init {

namespace {

/// The limit for everyone (/proc/sys/fs/pipe-max-size): five times as much as a full pipe, what is
/// kept for it, and a full pipe of the program together.
constexpr int kLastRoom = 1024 * 1024;

}  // namespace

Result<void> AttachStreams::add(std::uint32_t id, UniqueFd output, UniqueFd error) {
    for (const UniqueFd* pipe : {&output, &error})
        if (::fcntl(pipe->get(), F_SETFL, O_NONBLOCK) < 0)
            return system_error("making an attached stream non-blocking", errno);
    std::array<Copy, 2>& copies = attached_[id];
    copies[0].pipe = std::move(output);
    copies[1].pipe = std::move(error);
    return {};
}

bool AttachStreams::remove(std::uint32_t id) { return attached_.erase(id) != 0; }

void AttachStreams::Copy::write_some() {
    while (pipe && !kept.empty()) {
        const ssize_t size = ::write(pipe.get(), kept.data(), kept.size());
        if (size >= 0) {
            kept.erase(0, static_cast<std::size_t>(size));
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            // Nothing reads it any more; that is reported elsewhere.
            pipe.reset();
            kept.clear();
        }
    }
}

void AttachStreams::write(std::size_t stream, std::string_view bytes) {
    for (auto& [id, copies] : attached_) {
        Copy& copy = copies[stream];
        if (!copy.pipe) continue;
        copy.kept += bytes;
        copy.write_some();
    }
}

bool AttachStreams::is_full(std::size_t stream) const {
    return std::ranges::any_of(
        attached_, [stream](const auto& entry) { return !entry.second[stream].kept.empty(); });
}

void AttachStreams::wait_for(std::vector<pollfd>& events) const {
    for (const auto& [id, copies] : attached_)
        for (const Copy& copy : copies)
            if (!copy.kept.empty()) events.push_back({copy.pipe.get(), POLLOUT, 0});
}

void AttachStreams::write_kept() {
    for (auto& [id, copies] : attached_)
        for (Copy& copy : copies) copy.write_some();
}

void AttachStreams::make_last_room() {
    for (auto& [id, copies] : attached_)
        for (Copy& copy : copies)
            // If the user's share of the kernel's memory is used up, the end may be cut off; the
            // log has it.
            if (copy.pipe) (void)::fcntl(copy.pipe.get(), F_SETPIPE_SZ, kLastRoom);
    write_kept();
}

}  // namespace muster::pod_init
