#include "runtime/internal/sandbox/sandbox.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>

#include "base/async/cancellation.h"
#include "base/log.h"
#include "pod_init/pod_init.h"
#include "pod_init/pod_init_program.h"
#include "process/clone_stack.h"
#include "process/message_socket.h"
#include "runtime/internal/limits/keep_capabilities.h"
#include "runtime/internal/network/shared_network.h"

#ifndef P_PIDFD
#define P_PIDFD static_cast<idtype_t>(3)
#endif

namespace muster::runtime {

namespace {

constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;

struct InitArguments {
    int program;
    int control;
    bool die_with_parent;
    bool keep_capabilities;
    rlim_t open_files;
    std::optional<rlim_t> core_bytes;
    char** argv;
    char** environment;
    int error;
};

/// Runs in the new process, on a stack of its own but in our memory, while we wait (as vfork does).
__attribute__((no_sanitize("address", "undefined"))) int become_init(void* argument) {
    auto* init = static_cast<InitArguments*>(argument);
    // Tied to the thread that cloned, so only the main thread, which ends with the process, may ask
    // for it. The init watches its socket in any case; without a PID namespace there is nothing
    // else, as it must live to kill its processes.
    if (init->die_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (init->keep_capabilities) keep_capabilities();
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = init->open_files;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    rlimit core{};
    if (init->core_bytes && ::getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = *init->core_bytes;
        ::setrlimit(RLIMIT_CORE, &core);
    }
    // Sockets of libraries may lack close-on-exec, and would stay open beyond our end.
    ::syscall(SYS_close_range, pod_init::kControlFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    if (::dup2(init->control, pod_init::kControlFd) >= 0) {
        // The program's own number may be the one that was just replaced, so it is opened above it.
        ::syscall(SYS_execveat, init->program, "", init->argv, init->environment, AT_EMPTY_PATH);
    }
    init->error = errno;
    ::_exit(127);
}

/// A descriptor above the number of the init's socket.
Result<UniqueFd> above_control(UniqueFd fd) {
    if (fd.get() > pod_init::kControlFd) return fd;
    UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, pod_init::kControlFd + 1));
    if (!moved) return system_error("duplicating a descriptor", errno);
    return moved;
}

struct Cloned {
    pid_t pid;
    UniqueFd pidfd;
};

Result<Cloned> clone_init(const SandboxHost& host, int control, const std::string& title,
                          bool outlives = false) {
    const bool namespaces = host.fabric.has_value();
    std::string name = "muster-pod " + title;
    std::array<char*, 2> argv{name.data(), nullptr};
    std::array<char*, 1> environment{nullptr};
    InitArguments init{.program = host.program.get(),
                       .control = control,
                       .die_with_parent = namespaces && !outlives && ::gettid() == ::getpid(),
                       .keep_capabilities = namespaces && ::geteuid() != 0,
                       .open_files = host.open_files,
                       .core_bytes = host.core_bytes,
                       .argv = argv.data(),
                       .environment = environment.data(),
                       .error = 0};
    process::CloneStack stack;
    if (stack.top() == nullptr) return system_error("mapping a stack", errno);
    int pidfd = -1;
    const int flags =
        CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | (namespaces ? kNamespaces : 0);
    // Signals of ours must not run handlers in the child, which shares our memory.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::clone(become_init, stack.top(), flags, &init, &pidfd);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return system_error("cloning a pod's init", error);
    Cloned cloned{pid, UniqueFd(pidfd)};
    if (init.error != 0) {
        ::waitpid(pid, nullptr, 0);
        return system_error("executing a pod's init", init.error);
    }
    return cloned;
}

Result<void> write_map(const char* path, const std::string& text) {
    UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
    if (!file) return system_error(path, errno);
    if (::write(file.get(), text.data(), text.size()) < 0) return system_error(path, errno);
    return {};
}

/// An ordinary user gets the right to make namespaces in a user namespace of its own, in which its
/// ids stay the same.
Result<void> enter_user_namespace() {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    if (::unshare(CLONE_NEWUSER) < 0) return system_error("making a user namespace", errno);
    TRY_VOID(write_map("/proc/self/setgroups", "deny"));
    TRY_VOID(write_map("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)));
    return write_map("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
}

/// Enters the user namespace that owns a network namespace, which an earlier process of this user
/// made.
Result<void> enter_owner_of(const UniqueFd& network) {
    const UniqueFd owner(::ioctl(network.get(), NS_GET_USERNS));
    if (!owner) return system_error("finding the user namespace of the pods' network", errno);
    if (::setns(owner.get(), CLONE_NEWUSER) < 0)
        return system_error("entering the user namespace of the pods' network", errno);
    return {};
}

constexpr int kProbeTimeoutMs = 10'000;

/// Makes one pod that runs nothing. No setting reliably shows what a kernel, a container around us
/// or a security module forbids, so it is tried.
Result<void> try_out(SandboxHost& host) {
    TRY(auto ends, process::make_message_pair());
    TRY(UniqueFd theirs, above_control(std::move(ends.second)));
    TRY(Cloned init, clone_init(host, theirs.get(), "probe"));
    theirs.reset();
    auto probe = [&]() -> Result<void> {
        TRY(PodFabric::Link link, host.fabric->connect(init.pid, PodFabric::kRange + 1));
        const pod_init::PodSetup setup{
            .namespaces = true, .hostname = "probe", .link = link.pod, .mounts = {}};
        TRY_VOID(pod_init::send_setup(ends.first.get(), setup, host.self.get()));
        pollfd event{ends.first.get(), POLLIN, 0};
        pod_init::Report report;
        report.kind = pod_init::Report::Kind::kSetupFailed;
        report.text = "its init does not answer";
        if (::poll(&event, 1, kProbeTimeoutMs) == 1) {
            TRY(const pod_init::Receive received,
                pod_init::receive_report(ends.first.get(), report));
            if (received == pod_init::Receive::kReport &&
                report.kind == pod_init::Report::Kind::kReady)
                return {};
        }
        return Error(Code::kUnsupported, report.text);
    };
    auto worked = probe();
    ::syscall(SYS_pidfd_send_signal, init.pidfd.get(), SIGKILL, nullptr, 0);
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(init.pidfd.get()), &info, WEXITED);
    if (worked) return {};
    Error error = std::move(worked.error());
    return error.prefix("a pod on trial failed");
}

rlim_t soft_limit_of_open_files() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur;
}

/// A pod takes half a dozen of our descriptors; the usual 1,024 are used up at 170 pods.
void raise_limit_of_open_files() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Result<SandboxHost> SandboxHost::create(bool namespaces, UniqueFd network) {
    SandboxHost host;
    TRY(UniqueFd program, pod_init::open_program());
    TRY(host.program, above_control(std::move(program)));
    host.self = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!host.self) return system_error("opening this process as a pidfd", errno);
    host.open_files = soft_limit_of_open_files();
    if (namespaces) {
        const bool ordinary = ::geteuid() != 0;
        if (network) {
            if (ordinary) TRY_VOID(enter_owner_of(network));
            TRY(host.fabric, PodFabric::adopt(std::move(network)));
        } else {
            if (ordinary) TRY_VOID(enter_user_namespace());
            TRY(host.fabric, PodFabric::create());
        }
        TRY_VOID(try_out(host));
    } else {
        TRY(host.network_claim, claim_shared_network());
    }
    raise_limit_of_open_files();
    return host;
}

Result<UniqueFd> SandboxHost::open_socket() const {
    if (fabric) return fabric->open_socket();
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return system_error("opening a socket to a pod", errno);
    return socket;
}

Result<std::unique_ptr<PodSandbox>> PodSandbox::start(asio::any_io_executor executor,
                                                      SandboxHost& host, const SandboxSpec& spec) {
    const bool outlives = !spec.socket.empty();
    UniqueFd listener;
    if (outlives) {
        TRY(listener, listen_for_successor(spec.socket));
    }
    TRY(auto ends, process::make_message_pair());
    TRY(UniqueFd theirs, above_control(std::move(ends.second)));
    const bool namespaces = host.fabric.has_value();
    TRY(Cloned init, clone_init(host, theirs.get(), spec.title, outlives));
    theirs.reset();
    const pid_t pid = init.pid;
    Result<void> kept;
    if (!outlives && host.cleanup != nullptr) kept = host.cleanup->wait_for(init.pidfd.get());
    // Until it is complete it ends with us.
    std::unique_ptr<PodSandbox> sandbox(new PodSandbox(
        std::move(executor), host, std::move(ends.first), std::move(init.pidfd), false));
    TRY_VOID(std::move(kept));
    pod_init::PodSetup setup{.namespaces = namespaces,
                             .outlives = outlives,
                             .address = spec.address,
                             .note = spec.note,
                             .hostname = spec.hostname,
                             .link = std::nullopt,
                             .mounts = spec.mounts,
                             .files = spec.files,
                             .sysctls = spec.sysctls,
                             .pids = spec.pids,
                             .privileged = spec.privileged};
    if (namespaces) {
        TRY(sandbox->link_, host.fabric->connect(pid, spec.address));
        setup.link = sandbox->link_->pod;
        setup.link_index = sandbox->link_->index;
    }
    TRY_VOID(pod_init::send_setup(
        sandbox->control_.native_handle(), setup, outlives ? listener.get() : host.self.get(),
        outlives && namespaces ? host.fabric->network().descriptor() : -1));
    sandbox->outlives_ = outlives;
    return sandbox;
}

std::unique_ptr<PodSandbox> PodSandbox::take_over(asio::any_io_executor executor, SandboxHost& host,
                                                  RecoveredPod found) {
    std::unique_ptr<PodSandbox> sandbox(new PodSandbox(
        std::move(executor), host, std::move(found.control), std::move(found.init), true));
    if (host.fabric)
        sandbox->link_ = PodFabric::Link{.index = found.link_index,
                                         .pod = {.address = found.address, .gateway_mac = {}}};
    return sandbox;
}

PodSandbox::PodSandbox(asio::any_io_executor executor, SandboxHost& host, UniqueFd control,
                       UniqueFd pidfd, bool outlives)
    : host_(host),
      control_(executor, control.release()),
      pidfd_(executor, pidfd.release()),
      outlives_(outlives) {}

PodSandbox::~PodSandbox() {
    if (reaped_ || outlives_) return;
    kill();
    if (auto reaped = reap(); !reaped)
        log::warning("a pod's end left something behind", {{"error", reaped.error().message()}});
}

/// The init has ended or is about to.
Result<void> PodSandbox::reap() {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.native_handle()), &info, WEXITED);
    reaped_ = true;
    if (link_) TRY_VOID(host_.fabric->disconnect(*link_));
    return {};
}

Task<Result<std::optional<pod_init::Report>>> PodSandbox::next_report() {
    while (control_.is_open()) {
        pod_init::Report report;
        auto received = pod_init::receive_report(control_.native_handle(), report);
        if (!received) co_return received.error();
        if (*received == pod_init::Receive::kReport) {
            if (report.kind == pod_init::Report::Kind::kReady && link_)
                CO_TRY_VOID(host_.fabric->settle(*link_));
            co_return std::optional<pod_init::Report>(std::move(report));
        }
        if (*received == pod_init::Receive::kClosed) break;
        boost::system::error_code error;
        co_await control_.async_wait(asio::posix::stream_descriptor::wait_read,
                                     asio::redirect_error(asio::use_awaitable, error));
        if (control_.is_open()) rethrow_cancellation(error);
    }
    if (!reaped_) {
        co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        CO_TRY_VOID(reap());
    }
    co_return std::nullopt;
}

Result<void> PodSandbox::start_container(const pod_init::ContainerStart& start, int log_dir,
                                         std::span<const int> groups) {
    return pod_init::send_start(control_.native_handle(), start, log_dir, groups);
}

Result<void> PodSandbox::exec(const pod_init::ExecStart& exec, std::span<const int> streams) {
    return pod_init::send_exec(control_.native_handle(), exec, streams);
}

Result<void> PodSandbox::attach(const pod_init::ExecStart& exec, std::span<const int> streams) {
    return pod_init::send_attach(control_.native_handle(), exec, streams);
}

Result<void> PodSandbox::end_input(const pod_init::ExecStart& exec) {
    return pod_init::send_end_of_input(control_.native_handle(), exec);
}

Result<void> PodSandbox::cancel(const pod_init::ExecStart& exec) {
    return pod_init::send_cancel(control_.native_handle(), exec);
}

Result<NetworkNamespace> PodSandbox::network() {
    UniqueFd pidfd(::fcntl(pidfd_.native_handle(), F_DUPFD_CLOEXEC, 0));
    if (!pidfd) return system_error("duplicating a descriptor", errno);
    return NetworkNamespace::of(std::move(pidfd));
}

Result<void> PodSandbox::cut_off() {
    if (!link_)
        return Error(Code::kUnsupported,
                     "the pods share this machine's network (they have no namespaces), so none of "
                     "them can be cut off from the others");
    return host_.fabric->cut_off(*link_);
}

Result<void> PodSandbox::reconnect() {
    if (!link_ || reaped_) return {};
    return host_.fabric->reconnect(*link_);
}

void PodSandbox::kill() {
    if (reaped_) return;
    if (host_.fabric) {
        ::syscall(SYS_pidfd_send_signal, pidfd_.native_handle(), SIGKILL, nullptr, 0);
    } else if (control_.is_open()) {
        // Without a PID namespace it must live to kill its processes. The end of the socket tells
        // it to, unless it outlives us.
        (void)pod_init::send_end(control_.native_handle()).has_value();
        control_.close();
    }
}

}  // namespace muster::runtime
