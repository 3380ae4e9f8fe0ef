#include "workers/shim/program/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace muster::workers {

namespace {

// linux/mempolicy.h
constexpr int kPreferredNodes = 1;
constexpr int kBindNodes = 2;

/// What the child reports before it executes its program.
struct Word {
    ShimStage stage = ShimStage::kExecute;
    int error = 0;
    bool fatal = true;
};

void say(int to, Word word) {
    while (::write(to, &word, sizeof word) < 0 && errno == EINTR) {
    }
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
}

/// If this is refused, the tree is found by its parents, as on systems without cgroups.
void enter(int group) {
    const int entry = ::openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (entry < 0) return;
    [[maybe_unused]] const ssize_t entered = ::write(entry, "0", 1);
    ::close(entry);
}

int bind_to_processors(const std::vector<std::uint32_t>& cpus) {
    cpu_set_t set[8];  // 8192 CPUs
    CPU_ZERO_S(sizeof set, set);
    for (const std::uint32_t cpu : cpus) CPU_SET_S(cpu, sizeof set, set);
    return ::sched_setaffinity(0, sizeof set, set) < 0 ? errno : 0;
}

int choose_memory(launch::MemoryPolicy policy, const std::vector<std::uint32_t>& nodes) {
    unsigned long mask[16] = {};
    constexpr std::size_t kBits = sizeof(unsigned long) * 8;
    for (const std::uint32_t node : nodes)
        if (node < 16 * kBits) mask[node / kBits] |= 1UL << (node % kBits);
    const int mode = policy == launch::MemoryPolicy::kBind ? kBindNodes : kPreferredNodes;
    return ::syscall(SYS_set_mempolicy, mode, mask, 16 * kBits) < 0 ? errno : 0;
}

/// The agent itself may leave none, as it has keys.
void limit_core_dumps(std::uint64_t bytes) {
    rlimit core{};
    if (::getrlimit(RLIMIT_CORE, &core) < 0) return;
    core.rlim_cur = bytes;
    ::setrlimit(RLIMIT_CORE, &core);
}

/// What was ignored when the agent was started (nohup) stays ignored. Not SIGPIPE, which programs
/// ignore for themselves, and not SIGCHLD, without which no process can wait for a child.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal)
        if (::signal(signal, SIG_DFL) == SIG_IGN && signal != SIGPIPE && signal != SIGCHLD)
            ::signal(signal, SIG_IGN);
}

[[noreturn]] void become(const ShimOrder& order, int out, int error, int group, pid_t shim,
                         int words) {
    auto fail = [words](ShimStage stage, int code) {
        say(words, {stage, code, true});
        ::_exit(127);
    };
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != shim) ::_exit(127);
    if (group >= 0) enter(group);
    if (!order.cpus.empty())
        if (const int code = bind_to_processors(order.cpus); code != 0)
            fail(ShimStage::kAffinity, code);
    if (order.memory != launch::MemoryPolicy::kNone)
        if (const int code = choose_memory(order.memory, order.nodes); code != 0)
            say(words, {ShimStage::kAffinity, code, false});
    if (order.core_bytes) limit_core_dumps(*order.core_bytes);
    reset_signals();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // The descriptors are above those that they replace. The input is the shim's own.
    if (::dup2(out, STDOUT_FILENO) < 0 || ::dup2(error, STDERR_FILENO) < 0)
        fail(ShimStage::kPipe, errno);
    if (order.spare && ::dup2(kSpareControlFd, kShimControlFd) < 0) fail(ShimStage::kPipe, errno);
    const std::vector<char*> arguments = pointers(order.arguments);
    const std::vector<char*> environment = pointers(order.environment);
    int most_telling = ENOENT;
    for (const std::string& candidate : order.candidates) {
        ::execve(candidate.c_str(), arguments.data(), environment.data());
        if (errno == ENOENT || errno == ENOTDIR) continue;
        most_telling = errno;
        if (errno != EACCES) break;
    }
    fail(ShimStage::kExecute, most_telling);
    __builtin_unreachable();
}

}  // namespace

WorkerStarted start_worker(const ShimOrder& order, int out, int error, int group) {
    int words[2];
    if (::pipe2(words, O_CLOEXEC) < 0) return {.stage = ShimStage::kPipe, .error = errno};
    const pid_t shim = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(words[0]);
        become(order, out, error, group, shim, words[1]);
    }
    const int fork_error = errno;
    ::close(words[1]);
    WorkerStarted started;
    started.pid = child;
    if (child < 0) started = {.stage = ShimStage::kPipe, .error = fork_error};
    Word word;
    for (;;) {
        const ssize_t size = ::read(words[0], &word, sizeof word);
        if (size < 0 && errno == EINTR) continue;
        if (size != sizeof word) break;  // it has executed its program
        if (!word.fatal) {
            started.memory_error = word.error;
            continue;
        }
        started.stage = word.stage;
        started.error = word.error;
    }
    ::close(words[0]);
    if (started.error != 0 && started.pid > 0) {
        ::waitpid(started.pid, nullptr, 0);
        started.pid = -1;
    }
    return started;
}

}  // namespace muster::workers
