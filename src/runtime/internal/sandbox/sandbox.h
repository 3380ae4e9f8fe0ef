#pragma once

#include <sys/resource.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/async/task_group.h"
#include "pod_init/init_protocol.h"
#include "runtime/cleanup_process.h"
#include "runtime/internal/network/pod_network.h"
#include "runtime/internal/sandbox/recovered_pod.h"

namespace muster::runtime {

/// What all sandboxes of a node share.
struct SandboxHost {
    UniqueFd program;  ///< of the pods' inits
    /// This process: pods that are not to outlive it watch it.
    UniqueFd self;
    /// Told of every pod that is not to outlive us; may be null.
    CleanupProcess* cleanup = nullptr;
    /// How many descriptors a pod's process may have: what ours could before create() raised it.
    rlim_t open_files = 0;
    /// Present with namespaces.
    std::optional<PodFabric> fabric;
    /// Held without.
    UniqueFd network_claim;

    /// Opens the program and makes the fabric, with a user namespace first where we are not root,
    /// and tries a pod on it. Blocks for a few milliseconds. Without namespaces kUnavailable when
    /// another process has pods on the machine's network.
    /// `network`: of the router of pods that were found; an ordinary user then enters the user
    /// namespace that it belongs to.
    static Result<SandboxHost> create(bool namespaces, UniqueFd network = {});

    /// A TCP socket, not connected and non-blocking, from which pods are reached.
    Result<UniqueFd> open_socket() const;
};

struct SandboxSpec {
    std::string title;  ///< "namespace/pod", for `ps`
    std::string hostname;
    std::uint32_t address = 0;
    std::vector<pod_init::MountSpec> mounts;
    pod_init::PrivateFiles files = {};
    std::vector<std::pair<std::string, std::string>> sysctls = {};
    std::uint64_t pids = 0;
    bool privileged = false;
    /// Where the init of a pod that outlives us is found again (recover_pod()); empty: it ends with
    /// us.
    std::filesystem::path socket;
    /// What the process that recovers it is told.
    std::string note = {};
};

/// One pod's init and its namespaces, seen from `muster`. Owns the process: the destructor kills it
/// (and in a PID namespace the kernel then everything in it), unless it outlives us.
///
/// Thread: the loop.
class PodSandbox {
  public:
    /// Starts the init and sends it the set-up; kReady or kSetupFailed follows as a report.
    static Result<std::unique_ptr<PodSandbox>> start(asio::any_io_executor executor,
                                                     SandboxHost& host, const SandboxSpec& spec);
    /// Of a pod that was found. What is known of its containers follows as reports, as if it had
    /// just happened, then kTold.
    static std::unique_ptr<PodSandbox> take_over(asio::any_io_executor executor, SandboxHost& host,
                                                 RecoveredPod found);
    ~PodSandbox();

    /// The next report; nullopt once the init has ended, after which nothing is left of the pod's
    /// processes. One caller at a time.
    Task<Result<std::optional<pod_init::Report>>> next_report();

    /// Queues the start of a container; kStarted or kStartFailed follows.
    /// The log is written into `log_dir`, and the program runs in the cgroups with the directories
    /// `groups`.
    Result<void> start_container(const pod_init::ContainerStart& start, int log_dir,
                                 std::span<const int> groups);
    /// Queues a command inside a container; kExecEnded follows unless the sandbox ends, after
    /// kTerminal if it has one and could be started. `streams`: its standard input, output and
    /// error, or none, as in Request. They stay the caller's.
    Result<void> exec(const pod_init::ExecStart& exec, std::span<const int> streams = {});
    /// Queues the attachment of two of `streams` to a container's outputs, as in Request; kTerminal
    /// and at the container's end kExecEnded follow.
    Result<void> attach(const pod_init::ExecStart& exec, std::span<const int> streams);
    /// What is attached writes no more.
    Result<void> end_input(const pod_init::ExecStart& exec);
    /// Kills that command, or detaches.
    Result<void> cancel(const pod_init::ExecStart& exec);

    /// To open sockets inside: its loopback is the pod's. With namespaces, while the pod lives.
    Result<NetworkNamespace> network();

    /// Of a pod with a network of its own: nothing reaches it and nothing leaves it, until it is
    /// connected again. kUnsupported for one that shares the machine's.
    Result<void> cut_off();
    Result<void> reconnect();

    /// SIGKILL to the whole pod. next_report() then soon gives nullopt.
    void kill();

  private:
    PodSandbox(asio::any_io_executor executor, SandboxHost& host, UniqueFd control, UniqueFd pidfd,
               bool outlives);

    Result<void> reap();

    SandboxHost& host_;
    asio::posix::stream_descriptor control_;
    asio::posix::stream_descriptor pidfd_;
    std::optional<PodFabric::Link> link_;
    bool outlives_;
    bool reaped_ = false;
};

}  // namespace muster::runtime
