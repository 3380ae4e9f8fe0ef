#include <fmt/format.h>

#include <algorithm>

#include "jobs/internal/mpijob.h"

namespace muster::jobs {
namespace {

/// How long to try a worker that does not answer: all were Ready when the launcher was made, unless
/// it was made together with them.
constexpr std::string_view kPatience = "60s";
constexpr std::string_view kPatienceAtStartup = "10m";

const std::string& address_of(const std::vector<SeenPod>& running, const ReplicaId& replica) {
    static const std::string kNone;
    const auto seen = std::ranges::lower_bound(running, replica, {}, &SeenPod::replica);
    return seen != running.end() && seen->replica == replica ? seen->address : kNone;
}

/// The host name for the remote shell: for kubectl the name of the pod, else a name that the job's
/// Service makes resolvable.
std::string host(const MpiView& mpi, const std::string& pod, const std::string& address) {
    if (mpi.shell == RemoteShell::kKubectl) return pod;
    if (mpi.by_address && !address.empty()) return address;
    return fmt::format("{}.{}.{}", pod, mpi.job.metadata.name, mpi.job.service_domain());
}

std::string hostfile_line(const MpiView& mpi, const std::string& host) {
    return mpi.implementation == MpiImplementation::kOpenMpi
               ? fmt::format("{} slots={}\n", host, mpi.slots)
               : fmt::format("{}:{}\n", host, mpi.slots);
}

/// v1 prints the slots with the name, v2beta1 leaves them to `horovodrun --slots`.
std::string discovery_line(const MpiView& mpi, const std::string& host) {
    return mpi.first_dialect ? fmt::format("echo {}:{}\n", host, mpi.slots)
                             : fmt::format("echo {}\n", host);
}

/// A line of a script: its launcher has called a worker. Elsewhere nothing looks for that. A script
/// that daemons in workers call does not have the directory.
std::string note_call(const MpiView& mpi) {
    if (!mpi.one_machine) return {};
    return fmt::format("[ ! -d {0} ] || true >{0}/{1}\n", kCallsDirectory, kCalled);
}

}  // namespace

std::string hostfile(const MpiView& mpi, const std::vector<SeenPod>& running) {
    std::string text;
    if (mpi.launcher_is_host)
        text += hostfile_line(mpi, host(mpi, mpi.launcher_name(),
                                        address_of(running, {std::string(kMpiLauncher), 0})));
    for (std::int32_t i = 0; i < mpi.workers; ++i)
        text += hostfile_line(
            mpi, host(mpi, mpi.worker_name(i), address_of(running, {std::string(kMpiWorker), i})));
    return text;
}

std::string discover_hosts(const MpiView& mpi, const std::vector<SeenPod>& running) {
    std::string text = "#!/bin/sh\n";
    if (mpi.launcher_is_host)
        text += discovery_line(mpi, host(mpi, mpi.launcher_name(),
                                         address_of(running, {std::string(kMpiLauncher), 0})));
    for (const SeenPod& pod : running)
        if (pod.replica.type == kMpiWorker)
            text += discovery_line(mpi, host(mpi, mpi.worker_name(pod.replica.index), pod.address));
    return text;
}

/// Intel MPI and MVAPICH put options of ssh before the host.
std::string kubexec(const MpiView& mpi) {
    const std::string container =
        mpi.spec.main_container.empty() ? "" : " --container " + mpi.spec.main_container;
    return fmt::format(R"(#!/bin/sh
# The remote shell of mpirun: {} POD COMMAND...
{}while [ "${{1#-}}" != "$1" ]; do shift; done
pod=$1
shift
kubectl={}/kubectl
[ -x "$kubectl" ] || kubectl=$(command -v kubectl)
if [ -z "$kubectl" ]; then
    echo "{}: there is no kubectl in this image, neither in {} nor in PATH" >&2
    exit 127
fi
exec "$kubectl" exec "$pod"{} -- /bin/sh -c "$*"
)",
                       kKubexec, note_call(mpi), kKubectlDirectory, kKubexec, kKubectlDirectory,
                       container);
}

/// A program of its own, as Hydra accepts no agent with arguments.
std::string rsh_script(const MpiView& mpi) {
    return fmt::format(
        R"(#!/bin/sh
# The remote shell of mpirun: {} [OPTIONS OF SSH] HOST COMMAND...
{}exec {} rsh --token-file {}/{} --port {} --patience {} "$@"
)",
        kRsh, note_call(mpi), mpi.program(), kTokenDirectory, kToken, mpi.port(),
        mpi.spec.launcher_creation_policy == "AtStartup" ? kPatienceAtStartup : kPatience);
}

/// Host keys are as new as the pods, so no one can know them. Other hosts are none of our business.
std::string ssh_config(const MpiView& mpi) {
    const std::string& job = mpi.job.metadata.name;
    return fmt::format(R"(Host {0}-launcher {0}-worker-* *.{0}.{1}
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
)",
                       job, mpi.job.service_domain());
}

/// The key is mounted below a symbolic link.
std::string sshd_config() { return "StrictModes no\n"; }

std::size_t config_bytes(const MpiView& mpi, std::int32_t workers) {
    // The longest address of a pod is shorter than any name with its Service and namespace.
    const std::string last = host(mpi, mpi.worker_name(std::max(workers, 1) - 1), "");
    const std::size_t line = hostfile_line(mpi, last).size() + discovery_line(mpi, last).size();
    return kubexec(mpi).size() + rsh_script(mpi).size() + 1024 +
           line * static_cast<std::size_t>(workers);
}

}  // namespace muster::jobs
