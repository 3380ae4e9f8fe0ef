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
    /// Learns of every pod that is not to outlive us; may be null.
    CleanupProcess* cleanup = nullptr;
    /// How many descriptors a pod's process may have: our own limit before create() raised it.
    rlim_t open_files = 0;
    /// The soft limit of the core dumps of pods; unset: our own.
    std::optional<rlim_t> core_bytes;
    /// Present with namespaces.
    std::optional<PodFabric> fabric;
    /// Held without namespaces.
    UniqueFd network_claim;

    /// Opens the program and makes the fabric, with a user namespace first if we are not root, and
    /// tries a pod on it. Blocks for a few milliseconds. Without namespaces, kUnavailable if
    /// another process has pods on the machine's network. `network`: of the router of recovered
    /// pods; an ordinary user then enters the user namespace that it belongs to.
    static Result<SandboxHost> create(bool namespaces, UniqueFd network = {});

    /// A TCP socket, not connected and non-blocking, from which pods can be reached.
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
    /// Where to find the init of a pod that outlives us (recover_pod()); empty: it ends with us.
    std::filesystem::path socket;
    /// A note for the process that recovers it.
    std::string note = {};
};

/// One pod's init and its namespaces, seen from `muster`. Owns the process: the destructor kills it
/// (and in a PID namespace the kernel then kills everything in it), unless it outlives us.
///
/// Thread: the loop.
class PodSandbox {
  public:
    /// Starts the init and sends it the setup; kReady or kSetupFailed follows as a report.
    static Result<std::unique_ptr<PodSandbox>> start(asio::any_io_executor executor,
                                                     SandboxHost& host, const SandboxSpec& spec);
    /// For a recovered pod. What is known of its containers follows as reports, as if it had just
    /// happened, then kTold.
    static std::unique_ptr<PodSandbox> take_over(asio::any_io_executor executor, SandboxHost& host,
                                                 RecoveredPod found);
    ~PodSandbox();

    /// The next report; nullopt once the init has ended, when nothing is left of the pod's
    /// processes. One caller at a time.
    Task<Result<std::optional<pod_init::Report>>> next_report();

    /// Queues the start of a container; kStarted or kStartFailed follows. The log is written to
    /// `log_dir`, and the program runs in the cgroups with the directories `groups`.
    Result<void> start_container(const pod_init::ContainerStart& start, int log_dir,
                                 std::span<const int> groups);
    /// Queues a command inside a container; unless the sandbox ends, kExecEnded follows, after
    /// kTerminal if it has a terminal and could be started. `streams`: its standard input, output
    /// and error, or none, as in Request. The caller keeps them.
    Result<void> exec(const pod_init::ExecStart& exec, std::span<const int> streams = {});
    /// Queues the attachment of two of `streams` to a container's outputs, as in Request; kTerminal
    /// and, at the container's end, kExecEnded follow.
    Result<void> attach(const pod_init::ExecStart& exec, std::span<const int> streams);
    /// The attached client will not write any more.
    Result<void> end_input(const pod_init::ExecStart& exec);
    /// Kills that command, or detaches.
    Result<void> cancel(const pod_init::ExecStart& exec);

    /// For opening sockets inside: its loopback is the pod's. With namespaces, while the pod lives.
    Result<NetworkNamespace> network();

    /// For a pod with a network of its own: nothing reaches it or leaves it until it is connected
    /// again. kUnsupported if it shares the machine's.
    Result<void> cut_off();
    Result<void> reconnect();

    /// Sends SIGKILL to the whole pod. next_report() then soon returns nullopt.
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
