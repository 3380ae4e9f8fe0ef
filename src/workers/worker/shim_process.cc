#include "workers/worker/shim_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "process/memory_program.h"
#include "process/message_socket.h"

extern "C" {
extern const char muster_shim_begin[];
extern const char muster_shim_end[];
}

namespace muster::workers {

namespace {

/// Above all descriptors that the shim starts with.
constexpr int kOutOfTheWay = 16;

/// The address of a name in a directory, however long the directory's path is.
Result<sockaddr_un> address_of(int directory, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, name);
    if (path.size() >= sizeof address.sun_path)
        return Error(Code::kInvalid, fmt::format("the name of a socket is too long: {}", name));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

Result<UniqueFd> listen_at(int directory, const std::string& name) {
    TRY(const sockaddr_un address, address_of(directory, name));
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return system_error("making a socket", errno);
    ::unlinkat(directory, name.c_str(), 0);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        return system_error("binding the socket " + name, errno);
    if (::listen(socket.get(), 4) < 0) return system_error("listening at " + name, errno);
    return socket;
}

Result<UniqueFd> write_order(const ShimOrder& order) {
    UniqueFd file(::memfd_create("muster-shim-order", MFD_CLOEXEC));
    if (!file) return system_error("making a file in memory", errno);
    const std::string bytes = encode(order);
    for (std::string_view rest = bytes; !rest.empty();) {
        const ssize_t written = ::write(file.get(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error("writing a file in memory", errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return file;
}

struct ShimFds {
    int program, input, control, listener, order, spare;
};

/// Becomes the shim in a new child; returns the negative errno on failure. vfork: copies nothing
/// for a process that is about to be replaced.
[[gnu::noinline]] pid_t spawn(ShimFds fds, std::string name) {
    std::array<char*, 2> argv{name.data(), nullptr};
    std::array<char*, 1> environment{nullptr};
    volatile int error = 0;
    const pid_t child = ::vfork();
    if (child < 0) return -errno;
    if (child == 0) {
        if (::dup2(fds.input, STDIN_FILENO) >= 0 && ::dup2(fds.control, kShimControlFd) >= 0 &&
            ::dup2(fds.listener, kShimListenerFd) >= 0 && ::dup2(fds.order, kShimOrderFd) >= 0 &&
            (fds.spare < 0 || ::dup2(fds.spare, kSpareControlFd) >= 0))
            ::syscall(SYS_execveat, fds.program, "", argv.data(), environment.data(),
                      AT_EMPTY_PATH);
        error = errno;
        ::_exit(127);
    }
    if (error != 0) {
        ::waitpid(child, nullptr, 0);
        return -error;
    }
    return child;
}

Result<UniqueFd> out_of_the_way(int fd) {
    UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (!moved) return system_error("duplicating a descriptor", errno);
    return moved;
}

}  // namespace

Result<UniqueFd> open_shim_program() {
    return process::open_memory_program("muster-shim", {muster_shim_begin, muster_shim_end},
                                        "a worker's shim");
}

Result<StartedShim> start_shim(const ShimDescriptors& given, const ShimOrder& order) {
    TRY(UniqueFd listener, listen_at(given.directory, order.socket));
    TRY(UniqueFd bytes, write_order(order));
    TRY(auto ends, process::make_message_pair());
    UniqueFd null;
    if (given.input < 0) {
        null.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!null) return system_error("opening /dev/null", errno);
    }
    TRY(const UniqueFd input, out_of_the_way(null ? null.get() : given.input));
    TRY(const UniqueFd control, out_of_the_way(ends.second.get()));
    TRY(const UniqueFd listening, out_of_the_way(listener.get()));
    TRY(const UniqueFd ordered, out_of_the_way(bytes.get()));
    UniqueFd told;
    if (given.spare >= 0) {
        TRY(told, out_of_the_way(given.spare));
    }
    TRY(const UniqueFd image, out_of_the_way(given.program));
    const pid_t pid =
        spawn({image.get(), input.get(), control.get(), listening.get(), ordered.get(), told.get()},
              "muster-shim");
    if (pid < 0) return system_error("starting a worker's shim", static_cast<int>(-pid));
    return StartedShim{.pid = pid, .control = std::move(ends.first)};
}

Result<UniqueFd> find_shim(int directory, const std::string& socket) {
    TRY(const sockaddr_un address, address_of(directory, socket));
    UniqueFd control(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!control) return system_error("making a socket", errno);
    if (::connect(control.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        return Error(Code::kUnavailable,
                     fmt::format("the shim at {}: {}", socket, ::strerrordesc_np(errno)));
    return control;
}

Result<std::optional<ReceivedReport>> receive_report(int control) {
    TRY(process::Message message, process::receive_message(control, MSG_DONTWAIT));
    if (message.nothing_yet) return std::nullopt;
    if (message.bytes.empty()) return Error(Code::kUnavailable, "the shim has gone");
    ReceivedReport received;
    if (message.bytes.size() != sizeof received.report)
        return Error(Code::kUnavailable, "a shim of another version of muster");
    std::memcpy(&received.report, message.bytes.data(), sizeof received.report);
    if (received.report.version != kShimVersion)
        return Error(Code::kUnavailable, "a shim of another version of muster");
    received.fds = std::move(message.fds);
    return std::optional(std::move(received));
}

Result<void> request_end(int control, std::int64_t grace_ns, int signal) {
    ShimRequest request;
    request.signal = signal;
    request.grace_ns = grace_ns;
    while (::send(control, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (errno != EINTR) return system_error("telling a shim to end its worker", errno);
    return {};
}

Result<void> request_become(int control, const ShimOrder& order) {
    TRY(const UniqueFd file, write_order(order));
    ShimRequest request;
    request.kind = ShimRequest::Kind::kBecome;
    const int fds[] = {file.get()};
    TRY(const bool sent,
        process::send_message(control, {reinterpret_cast<const char*>(&request), sizeof request},
                              fds, MSG_DONTWAIT));
    if (!sent) return Error(Code::kUnavailable, "a spare's shim takes no messages");
    return {};
}

}  // namespace muster::workers
