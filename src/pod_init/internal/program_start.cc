#include "pod_init/internal/program_start.h"

#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "pod_init/internal/assume_identity.h"
#include "process/program_file.h"

namespace muster::pod_init {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// What a child that could not become its program leaves. It is in memory that is shared with the
/// child, as a child that is cloned into a cgroup has a copy of everything else.
struct Failure {
    StartStage stage = StartStage::kOther;
    int error = 0;
    const char* step = "";
};

volatile Failure* shared_failure() {
    static volatile Failure* const failure = [] {
        void* page = ::mmap(nullptr, sizeof(Failure), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        return page == MAP_FAILED ? nullptr : static_cast<volatile Failure*>(page);
    }();
    return failure;
}

/// Makes the calling process batch work: it no longer preempts others the moment that it wakes,
/// which costs the replicas of one job that wait for each other far more than it gains (a step of
/// three gloo replicas on two cores takes half the time). If someone has chosen a policy for us, it
/// is meant for the pods too. Advice only: if a system forbids it, the program runs as it would
/// have.
__attribute__((no_sanitize("address", "undefined"))) void become_batch_work() {
    if (::sched_getscheduler(0) != SCHED_OTHER) return;
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_BATCH, &none);
}

/// The child's part, up to the exec; returns only if that fails. It may share our memory.
__attribute__((no_sanitize("address", "undefined"))) void become(const Program& program,
                                                                 const Surroundings& surroundings,
                                                                 StandardStreams streams,
                                                                 volatile Failure& failure) {
    auto fail = [&failure](StartStage stage, int error) {
        failure.stage = stage;
        failure.error = error;
    };
    ::setsid();
    // It can't fail: we have just become a session without a terminal, and the terminal is new.
    if (streams.terminal)
        ::ioctl(streams.input, TIOCSCTTY, 0);
    else
        become_batch_work();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (const int error = surroundings.groups.enter(); error != 0)
        return fail(StartStage::kGroup, error);
    if (::chdir(surroundings.working_dir) < 0) return fail(StartStage::kWorkingDir, errno);
    const char* step = "";
    if (const int error = assume_identity(surroundings.identity, step); error != 0) {
        failure.step = step;
        return fail(StartStage::kIdentity, error);
    }
    // A change of identity has cleared it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(streams.input, STDIN_FILENO);
    ::dup2(streams.output, STDOUT_FILENO);
    ::dup2(streams.error, STDERR_FILENO);
    int most_telling = ENOENT;
    for (const std::string& candidate : program.candidates) {
        ::execve(candidate.c_str(), program.argv.data(), program.environment.data());
        if (errno == ENOENT || errno == ENOTDIR) continue;
        most_telling = errno;
        if (errno != EACCES) break;
    }
    fail(StartStage::kOther, most_telling);
}

}  // namespace

Program find_program(std::vector<std::string>& argv, std::vector<std::string>& environment) {
    return {process::program_candidates(argv[0], process::path_of(environment)), pointers(argv),
            pointers(environment)};
}

[[gnu::noinline]] Launched execute(const Program& program, const Surroundings& surroundings,
                                   StandardStreams streams) {
    volatile Failure* const failure = shared_failure();
    if (failure == nullptr) return {.error = ENOMEM};
    failure->stage = StartStage::kOther;
    failure->error = 0;
    const bool cloned = surroundings.groups.target() >= 0;
    const pid_t child = cloned ? surroundings.groups.fork_into() : ::vfork();
    if (child < 0)
        return {
            .pid = -1, .stage = cloned ? StartStage::kGroup : StartStage::kOther, .error = errno};
    if (child == 0) {
        become(program, surroundings, streams, *failure);
        ::_exit(127);
    }
    // The child is gone or has become the program: the record is final.
    if (failure->error != 0) {
        ::waitpid(child, nullptr, 0);
        return {-1, failure->stage, failure->error, failure->step};
    }
    return {.pid = child};
}

}  // namespace muster::pod_init
