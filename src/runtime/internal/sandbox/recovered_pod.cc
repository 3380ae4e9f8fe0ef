#include "runtime/internal/sandbox/recovered_pod.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "pod_init/init_protocol.h"

namespace muster::runtime {

namespace {

namespace fs = std::filesystem;

constexpr int kAnswerMs = 10'000;

/// kUnavailable if there is no init; other errors say nothing about the pod.
Error not_reached(std::string_view what, int errno_value) {
    const bool nobody = errno_value == ENOENT || errno_value == ECONNREFUSED;
    return Error(nobody ? Code::kUnavailable : Code::kInternal,
                 system_error(what, errno_value).message());
}

/// A Unix socket's name for a path of any length (a name ends at 107 bytes): through a descriptor
/// of its directory, which is kept open in `directory`.
Result<sockaddr_un> socket_name(const fs::path& path, UniqueFd& directory) {
    directory.reset(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return not_reached("opening " + path.parent_path().string(), errno);
    const std::string name =
        fmt::format("/proc/self/fd/{}/{}", directory.get(), path.filename().string());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path)
        return Error(Code::kInternal, "the name of the socket " + path.string() + " is too long");
    name.copy(address.sun_path, name.size());
    return address;
}

Result<UniqueFd> connect_to(const fs::path& path) {
    UniqueFd directory;
    TRY(const sockaddr_un address, socket_name(path, directory));
    UniqueFd connected(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!connected) return system_error("making a Unix socket", errno);
    if (::connect(connected.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        return not_reached("connecting to " + path.string(), errno);
    return connected;
}

/// False: not in time.
Result<bool> wait_readable(const UniqueFd& fd, int milliseconds) {
    pollfd event{fd.get(), POLLIN, 0};
    for (;;) {
        const int ready = ::poll(&event, 1, milliseconds);
        if (ready >= 0) return ready > 0;
        if (errno != EINTR) return system_error("waiting for a pod's init", errno);
    }
}

}  // namespace

Result<UniqueFd> listen_for_successor(const fs::path& socket) {
    UniqueFd directory;
    TRY(const sockaddr_un address, socket_name(socket, directory));
    // The name of an init that has ended stays.
    if (::unlink(socket.c_str()) < 0 && errno != ENOENT)
        return system_error("removing " + socket.string(), errno);
    UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!listener ||
        ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
        ::listen(listener.get(), 1) < 0)
        return system_error("listening at " + socket.string(), errno);
    return listener;
}

Result<RecoveredPod> recover_pod(const fs::path& socket) {
    RecoveredPod found;
    TRY(found.control, connect_to(socket));
    TRY(const bool answered, wait_readable(found.control, kAnswerMs));
    if (!answered)
        return Error(Code::kTimeout,
                     fmt::format("the init at {} does not answer", socket.string()));
    pod_init::Report ready;
    TRY(const pod_init::Receive received, pod_init::receive_report(found.control.get(), ready));
    if (received == pod_init::Receive::kClosed)
        return Error(Code::kUnavailable, fmt::format("the init at {} has ended", socket.string()));
    if (received != pod_init::Receive::kReport || ready.kind != pod_init::Report::Kind::kReady ||
        !ready.pidfd)
        return Error(Code::kInternal,
                     fmt::format("the init at {} says something else", socket.string()));
    found.init = std::move(ready.pidfd);
    found.network = std::move(ready.network);
    found.address = ready.recovery.address;
    found.link_index = ready.recovery.link_index;
    found.connections = ready.recovery.connections;
    found.note = std::move(ready.text);
    return found;
}

Result<void> end_pod(RecoveredPod pod) {
    // Without a PID namespace it must live to kill its processes, so it is asked in any case.
    auto asked = pod_init::send_end(pod.control.get());
    TRY(const bool ended, wait_readable(pod.init, asked ? -1 : 0));
    return ended ? Result<void>() : std::move(asked);
}

}  // namespace muster::runtime
