#include "runtime/internal/network/network_namespace.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "process/clone_stack.h"

namespace muster::runtime {

namespace {

/// The child's task there. It runs on a stack of its own but in our memory, while we wait.
struct Errand {
    int netns = -1;  ///< -1: a new one, which the child was cloned into
    int domain = 0;
    int type = 0;
    int protocol = 0;
    const char* tap = nullptr;  ///< a tap of this name instead of a socket
    unsigned tap_index = 0;
    int result = -1;
    int error = 0;
};

__attribute__((no_sanitize("address", "undefined"))) void set_kernel_value(const char* path,
                                                                           const char* digit) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!::write(file, digit, 1);
    ::close(file);
}

__attribute__((no_sanitize("address", "undefined"))) int open_tap(const char* name,
                                                                  unsigned index) {
    const int tap = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tap < 0) return -1;
    ifreq request{};
    for (std::size_t i = 0; i + 1 < IFNAMSIZ && name[i] != '\0'; ++i) request.ifr_name[i] = name[i];
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (::ioctl(tap, TUNSETIFINDEX, &index) == 0 && ::ioctl(tap, TUNSETIFF, &request) == 0 &&
        ::ioctl(tap, TUNSETPERSIST, 1) == 0)
        return tap;
    const int error = errno;
    ::close(tap);
    errno = error;
    return -1;
}

__attribute__((no_sanitize("address", "undefined"))) int run_errand(void* argument) {
    auto* errand = static_cast<Errand*>(argument);
    if (errand->netns >= 0 && ::setns(errand->netns, CLONE_NEWNET) < 0) {
        errand->error = errno;
        return 0;
    }
    errand->result = errand->tap != nullptr
                         ? open_tap(errand->tap, errand->tap_index)
                         : ::socket(errand->domain, errand->type | SOCK_CLOEXEC, errand->protocol);
    errand->error = errno;
    if (errand->netns >= 0) return 0;
    // Refuse each packet to the outside, not one a second; and do not answer pings, so that the
    // router is not mistaken for the world. Best effort: a container may have /proc/sys read-only.
    set_kernel_value("/proc/sys/net/ipv4/icmp_ratelimit", "0");
    set_kernel_value("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1");
    return 0;
}

Result<UniqueFd> send_on(Errand errand, const std::string& what) {
    process::CloneStack stack;
    if (stack.top() == nullptr) return system_error("mapping a stack", errno);
    const int flags =
        CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD | (errand.netns < 0 ? CLONE_NEWNET : 0);
    // Signals of ours must not run handlers in the child, which shares our memory.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = ::clone(run_errand, stack.top(), flags, &errand);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) return system_error(what, error);
    ::waitpid(child, nullptr, 0);
    if (errand.result < 0) return system_error(what, errand.error);
    return UniqueFd(errand.result);
}

}  // namespace

Result<NetworkNamespace> NetworkNamespace::create() {
    TRY(UniqueFd socket, send_on({.domain = AF_INET, .type = SOCK_DGRAM},
                                 "opening a socket in a new network namespace"));
    UniqueFd descriptor(::ioctl(socket.get(), SIOCGSKNS));
    if (!descriptor) return system_error("taking hold of a new network namespace", errno);
    return NetworkNamespace(std::move(descriptor));
}

Result<UniqueFd> NetworkNamespace::open_socket(int domain, int type, int protocol) const {
    return send_on({.netns = descriptor(), .domain = domain, .type = type, .protocol = protocol},
                   "opening a socket in another network namespace");
}

Result<void> NetworkNamespace::make_tap(const std::string& name, std::uint32_t index) const {
    TRY(UniqueFd tap,
        send_on({.netns = descriptor(), .tap = name.c_str(), .tap_index = index}, "/dev/net/tun"));
    return {};
}

bool is_same_namespace(int one, int other) {
    struct stat first{};
    struct stat second{};
    return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace muster::runtime
