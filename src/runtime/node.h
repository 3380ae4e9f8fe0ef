#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/side_thread.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/command_session.h"
#include "kube/objects/usage.h"
#include "net/byte_stream.h"
#include "pod_init/log_limits.h"
#include "runtime/cleanup_process.h"
#include "runtime/devices.h"
#include "runtime/fault_injection.h"
#include "runtime/pod_changes.h"
#include "runtime/retained_logs.h"
#include "runtime/server_address.h"
#include "runtime/stand_ins.h"

namespace muster::runtime {

enum class SandboxMode {
    kAuto,        ///< namespaces where the kernel allows them, else none with a notice
    kNamespaces,  ///< or fail to start
    kNone,        ///< one shared network, 127.x addresses
};

/// How containers see the files of this machine.
enum class FileMode {
    kShared,      ///< their writes persist
    kPrivate,     ///< copy-on-write, for each pod
    kWorkingDir,  ///< copy-on-write only in the working directory, for each pod
};

struct NodeOptions {
    std::string name = "localhost";
    SandboxMode sandbox = SandboxMode::kAuto;
    /// Scratch space of this node (volumes, hosts files, logs of pods); made by the caller, 0700.
    std::filesystem::path state_dir;
    /// Pods keep running if this process ends without Node::stop(), and a node that is created with
    /// the same state_dir takes them over. Nothing else may use the directory. There is no cleanup
    /// process then.
    bool pods_outlive = false;
    /// Removes the node's cgroups if this process is killed; may be null. Outlives the node.
    CleanupProcess* cleanup = nullptr;
    /// Where containers without a workingDir start.
    std::filesystem::path working_dir;
    /// The base environment of every container (PATH, HOME, ... of the caller).
    std::vector<std::string> environment;
    /// A path of the image -> a directory of this machine that stands in for it.
    std::map<std::filesystem::path, std::filesystem::path> mounts;
    /// Directories that stand in for claims to volumes, by "CLAIM" or "NAMESPACE/CLAIM".
    std::map<std::string, std::filesystem::path> claims;
    StandIns stand_ins;
    /// What is changed in pods before they run.
    PodChanges changes;
    /// CPUs and bytes that pods may request together; 0: all that the machine has.
    double cpus = 0;
    std::uint64_t memory_bytes = 0;
    /// A domain for names in /etc/hosts in addition to "cluster.local"; empty: none.
    std::string cluster_domain = {};
    /// Accelerators that pods may request.
    Devices devices;
    FileMode files = FileMode::kShared;
    /// Where a pod's writes to its own view of the files are kept, in a directory for each pod;
    /// empty: in memory, dropped with the pod.
    std::filesystem::path files_dir;
    /// How much memory that may take for each pod.
    std::uint64_t files_bytes = std::uint64_t{1} << 30;
    /// Limit of processes and threads of a pod; 0: a quarter of what the kernel can have.
    std::int64_t pids_per_pod = 0;
    /// The soft limit of the core dumps of pods; unset: that of this process.
    std::optional<std::uint64_t> core_bytes = {};
    pod_init::LogLimits log_limits;
    /// Where logs are kept when their pods are gone (retained_logs.h), for this user only; empty:
    /// they are removed with their pods.
    std::filesystem::path logs_dir = {};
    RetentionLimits retention_limits = {};
    /// Where programs of this machine find the API, and so do pods that share its network; other
    /// pods find it where Node::listen_for_pods() listens. Unset: pods know of no API, and have no
    /// tokens.
    std::optional<ServerAddress> server;
    /// Where large pods are read; null: on the loop. Outlives the node.
    SideThread* side_thread = nullptr;
};

/// The node of a single machine: takes pods that are bound to it (and binds those that wait for a
/// node), runs their containers as supervised processes, and reports as a kubelet does.
///
/// All processes of a pod descend from its init, which ends when this process ends: however
/// `muster` ends, nothing is left over. If pods are to outlive it, the init lives on instead and
/// tells the next node what happened meanwhile (docs/design/outlive.md). Thread: one loop.
class Node {
  public:
    /// Probes what the kernel allows; an error says what is missing and what to do.
    static Result<std::unique_ptr<Node>> create(asio::any_io_executor executor,
                                                kube::Transport& transport, Clock& clock, Rng& rng,
                                                NodeOptions options);
    ~Node();

    /// Registers the node and starts to accept pods.
    Task<Result<void>> start();
    /// Ends every pod (SIGKILL, no grace period: delete the pods first for a gentle end) and waits.
    Task<void> stop();

    Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_, std::string pod,
                                                         kube::LogOptions options);
    Task<Result<std::unique_ptr<kube::CommandSession>>> exec(std::string namespace_,
                                                             std::string pod,
                                                             kube::CommandOptions options);
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string namespace_, std::string pod,
                                                           std::uint16_t port);
    /// Listens in the pods' network, at the address of the Service `kubernetes`, where only pods
    /// can connect; null if they share the machine's. To be called once.
    Result<std::unique_ptr<net::Listener>> listen_for_pods();
    /// Usage since the last call, or over the next second if that was too long ago.
    Task<Result<kube::NodeUsage>> usage();

    /// Sends a signal to a pod's program, and returns the process that got it. kNotFound if the pod
    /// is not here or has no such rank, kUnavailable if none of its programs runs.
    Result<pid_t> signal(const std::string& namespace_, const std::string& pod, PodSignal signal);
    /// The same errors; kAlreadyExists if the fault is in effect already, kUnsupported for a
    /// partition if pods share the machine's network. Containers that the pod starts later are not
    /// paused.
    Result<void> begin_fault(const std::string& namespace_, const std::string& pod, PodFault fault);
    /// No effect for a pod that is gone, or whose fault was cleared.
    Result<void> end_fault(const std::string& namespace_, const std::string& pod, PodFault fault);

    /// Lines for people about what pods lack here compared with a cluster (networks of their own,
    /// access to the outside): what they have instead, why, and what to do about it.
    const std::vector<std::string>& notices() const;
    /// Whether each pod has namespaces, and with them a /tmp, of its own.
    bool isolates_pods() const;

  private:
    struct Impl;
    explicit Node(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::runtime
