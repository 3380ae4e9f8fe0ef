#include "runtime/internal/network/egress.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <string_view>

#include "base/fields.h"
#include "pod_init/netlink/route_messages.h"
#include "process/clone_stack.h"
#include "runtime/internal/limits/keep_capabilities.h"
#include "runtime/internal/network/masquerade.h"

#ifndef P_PIDFD
#define P_PIDFD static_cast<idtype_t>(3)
#endif

namespace muster::runtime {

namespace {

constexpr const char* kTap = "out0";
constexpr std::uint32_t kTapIndex = 2;                // the router's second link; pods' come later
constexpr std::uint32_t kRouterOutside = 0xA9FE0202;  // 169.254.2.2
constexpr std::uint32_t kPasta = 0xA9FE0201;          // 169.254.2.1
constexpr std::uint8_t kOutsidePrefix = 30;
/// pasta's maximum.
constexpr std::uint32_t kTapMtu = 65520;

/// While pasta starts, packets wait for the answer to "who has 169.254.2.1"; asked every second, as
/// is usual, a pod's first question would take a second.
constexpr std::uint64_t kAskAgainMs = 10;
constexpr std::uint32_t kAskTimes = 300;

/// Packets to the outside are accepted locally and refused again.
Result<void> remove_link(PodFabric& fabric) {
    pod_init::NetlinkBatch batch;
    batch.optional_message("removing the way out", RTM_DELLINK, 0,
                           pod_init::link_header(kTapIndex));
    return fabric.routes().execute(batch);
}

Result<void> add_link(PodFabric& fabric) {
    TRY_VOID(remove_link(fabric));  // that of an earlier process
    TRY_VOID(masquerade(fabric.network(), kTapIndex, PodFabric::kRange));
    TRY_VOID(fabric.network().make_tap(kTap, kTapIndex));

    pod_init::NetlinkBatch batch;
    pod_init::without_link_local(batch, kTapIndex);
    pod_init::add_address(batch, "address of the way out", kTapIndex, kRouterOutside,
                          kOutsidePrefix);

    ndtmsg table{};
    table.ndtm_family = AF_INET;
    batch.message("how to wait for pasta", RTM_SETNEIGHTBL, 0, table);
    batch.text(NDTA_NAME, "arp_cache");
    std::size_t parameters = batch.begin_nest(NDTA_PARMS);
    batch.u32(NDTPA_IFINDEX, kTapIndex);
    batch.attribute(NDTPA_RETRANS_TIME,
                    {reinterpret_cast<const char*>(&kAskAgainMs), sizeof kAskAgainMs});
    batch.u32(NDTPA_MCAST_PROBES, kAskTimes);
    batch.end_nest(parameters);

    batch.message("taking the way out up", RTM_SETLINK, 0, pod_init::link_header(kTapIndex, true));
    batch.u32(IFLA_MTU, kTapMtu);
    pod_init::forward_from(batch);
    // In the place of what an earlier process took in, which stays when its link goes.
    pod_init::add_route(batch, "route to pasta", kPasta, 32, kTapIndex, 0, kRouterOutside,
                        NLM_F_REPLACE);
    pod_init::add_route(batch, "route by pasta", 0, 0, kTapIndex, kPasta, kRouterOutside);
    // Needed only to name a gateway: nothing may be sent to pasta's own address, as it would look
    // for it in the machine's network.
    pod_init::remove_route(batch, "removing the route to pasta", kPasta, kTapIndex);
    pod_init::take_in(batch, "what is for pasta itself", kPasta, 32, 0);
    return fabric.routes().execute(batch);
}

std::string find_program(std::string_view name, const std::vector<std::string>& environment) {
    constexpr std::string_view kVariable = "PATH=";
    std::string_view path;
    for (const std::string& entry : environment)
        if (entry.starts_with(kVariable)) path = std::string_view(entry).substr(kVariable.size());
    while (!path.empty()) {
        const std::size_t colon = path.find(':');
        const std::string candidate = fmt::format("{}/{}", path.substr(0, colon), name);
        if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
        path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
    }
    return {};
}

/// Null-terminated, for execve().
std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

struct PastaArguments {
    const char* program;
    char* const* argv;
    char* const* environment;
    int network;
    int errors;
    pid_t parent;
    bool keep_capabilities;
    int error;
};

/// Runs in the new process, on a stack of its own but in our memory, while we wait (as vfork does).
__attribute__((no_sanitize("address", "undefined"))) int become_pasta(void* argument) {
    auto* pasta = static_cast<PastaArguments*>(argument);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != pasta->parent) ::_exit(127);
    ::setsid();  // a terminal's Ctrl-C is for us
    if (pasta->keep_capabilities) keep_capabilities();
    ::signal(SIGPIPE, SIG_DFL);  // pasta takes a signal that is ignored already for a failure
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // It finds the network at standard input. Others, which newer releases of pasta close, may be
    // of whoever started us.
    if (::dup2(pasta->network, STDIN_FILENO) >= 0 && ::dup2(pasta->errors, STDOUT_FILENO) >= 0 &&
        ::dup2(pasta->errors, STDERR_FILENO) >= 0) {
        ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        ::execve(pasta->program, pasta->argv, pasta->environment);
    }
    pasta->error = errno;
    ::_exit(127);
}

struct Started {
    pid_t process = -1;
    UniqueFd pidfd;
    UniqueFd errors;
};

Result<Started> start_pasta(const std::string& program, const NetworkNamespace& network,
                            std::vector<std::string> environment, bool forward_names) {
    std::array<int, 2> ends{};
    // Both are non-blocking: unread data are lost rather than waited for.
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0)
        return system_error("making a pipe", errno);
    Started started;
    started.errors.reset(ends[0]);
    const UniqueFd theirs(ends[1]);

    std::vector<std::string> words{program,           "--foreground",
                                   "--quiet",         "--netns-only",
                                   "--netns",         "/proc/self/fd/0",
                                   "--no-netns-quit", "--ipv4-only",
                                   "--ns-ifname",     kTap,
                                   "--address",       format_address(kRouterOutside),
                                   "--netmask",       std::to_string(kOutsidePrefix),
                                   "--gateway",       format_address(kPasta),
                                   "--no-map-gw",     "--no-dhcp",
                                   "--tcp-ports",     "none",
                                   "--udp-ports",     "none",
                                   "--tcp-ns",        "none",
                                   "--udp-ns",        "none"};
    // With it, answers of the first name server seem to come from the forwarder in any case.
    if (forward_names)
        words.insert(words.end(), {"--dns-forward", format_address(Egress::kNameForwarder)});
    // Otherwise it becomes `nobody`, which may not enter the pods' network.
    if (::geteuid() == 0) words.insert(words.end(), {"--runas", "0"});
    std::vector<char*> argv = pointers_to(words);
    std::vector<char*> variables = pointers_to(environment);

    PastaArguments pasta{.program = program.c_str(),
                         .argv = argv.data(),
                         .environment = variables.data(),
                         .network = network.descriptor(),
                         .errors = theirs.get(),
                         .parent = ::getpid(),
                         .keep_capabilities = ::geteuid() != 0,
                         .error = 0};
    process::CloneStack stack;
    if (stack.top() == nullptr) return system_error("mapping a stack", errno);
    int pidfd = -1;
    // Signals of ours must not run handlers in the child, which shares our memory.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    started.process = ::clone(become_pasta, stack.top(),
                              CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &pasta, &pidfd);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started.process < 0) return system_error("cloning a process for pasta", error);
    started.pidfd.reset(pidfd);
    if (pasta.error != 0) {
        ::waitpid(started.process, nullptr, 0);
        return system_error("executing " + program, pasta.error);
    }
    return started;
}

/// The last line that is not about the system log, to which pasta also writes.
std::string last_words(const UniqueFd& errors) {
    std::array<char, 16384> buffer;
    const ssize_t size = ::read(errors.get(), buffer.data(), buffer.size());
    std::string_view text(buffer.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    std::string_view last;
    while (!text.empty()) {
        const std::string_view line = take_field(text, '\n');
        if (!line.empty() && line.find(" to syslog") == std::string_view::npos) last = line;
    }
    return std::string(last);
}

}  // namespace

Result<std::unique_ptr<Egress>> Egress::open(asio::any_io_executor executor, PodFabric& fabric,
                                             const std::vector<std::string>& environment,
                                             bool forward_names) {
    const std::string program = find_program("pasta", environment);
    if (program.empty())
        return Error(Code::kNotFound,
                     "pasta is in no directory of PATH. Install it (Debian's package passt)");
    if (auto added = add_link(fabric); !added) {
        (void)remove_link(fabric).has_value();
        return std::move(added.error());
    }
    auto started = start_pasta(program, fabric.network(), environment, forward_names);
    if (!started) {
        (void)remove_link(fabric).has_value();
        return std::move(started.error());
    }
    return std::unique_ptr<Egress>(new Egress(std::move(executor), fabric, started->process,
                                              std::move(started->pidfd),
                                              std::move(started->errors)));
}

Egress::Egress(asio::any_io_executor executor, PodFabric& fabric, pid_t process, UniqueFd pidfd,
               UniqueFd errors)
    : fabric_(fabric),
      process_(process),
      pidfd_(std::move(executor), pidfd.release()),
      errors_(std::move(errors)) {}

Egress::~Egress() {
    if (process_ < 0) return;
    // pasta forks for a moment when it starts. What it forked is no child of ours; with the last of
    // them the pipe closes.
    constexpr int kMostMs = 1000;
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pollfd closed{errors_.get(), 0, 0};
    ::poll(&closed, 1, kMostMs);
}

Task<std::string> Egress::ended() {
    co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    // Asked again after a fault, there is no process to reap any more, and -1 would mean any.
    if (process_ >= 0) ::waitpid(std::exchange(process_, -1), nullptr, 0);
    std::string said = last_words(errors_);
    if (auto removed = remove_link(fabric_); !removed) said += "; " + removed.error().message();
    co_return said;
}

}  // namespace muster::runtime
