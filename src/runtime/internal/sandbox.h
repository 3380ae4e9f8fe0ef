#pragma once

#include <sys/resource.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/task_group.h"
#include "runtime/internal/init_protocol.h"
#include "runtime/internal/pod_network.h"

namespace muster::runtime {

/// What a process is started with to become a pod's init, and where it finds its socket.
inline constexpr const char* kPodInitArgument = "--muster-pod-init";
inline constexpr int kPodInitControlFd = 3;

/// What all sandboxes of a node share.
struct SandboxHost {
    /// This program, opened once: a rebuilt or removed file does not matter to pods.
    UniqueFd program;
    /// How many descriptors a pod's process may have: what ours could before create() raised it.
    rlim_t open_files = 0;
    /// Present with namespaces.
    std::optional<PodFabric> fabric;
    /// Held without.
    UniqueFd network_claim;

    /// Opens the program and makes the fabric, with a user namespace first where we are not root,
    /// and tries a pod on it. Blocks for a few milliseconds. Without namespaces kUnavailable when
    /// another process has pods on the machine's network.
    static Result<SandboxHost> create(bool namespaces);
};

struct SandboxSpec {
    std::string title;  ///< "namespace/pod", for `ps`
    std::string hostname;
    std::uint32_t address = 0;
    std::vector<MountSpec> mounts;
};

/// One pod's init and its namespaces, seen from `muster`. Owns the process: the destructor kills it
/// (and in a PID namespace the kernel then everything in it).
///
/// Thread: the loop.
class PodSandbox {
  public:
    /// Starts the init and sends it the set-up; kReady or kSetupFailed follows as a report.
    static Result<std::unique_ptr<PodSandbox>> start(asio::any_io_executor executor,
                                                     SandboxHost& host, const SandboxSpec& spec);
    ~PodSandbox();

    /// The next report; nullopt once the init has ended, after which nothing is left of the pod's
    /// processes. One caller at a time.
    Task<Result<std::optional<Report>>> next_report();

    /// Queues the start of a container; kStarted or kStartFailed follows.
    Result<void> start_container(const ContainerStart& start, int stdout_fd, int stderr_fd);

    pid_t init_pid() const { return init_pid_; }

    /// SIGKILL to the whole pod. next_report() then soon gives nullopt.
    void kill();

  private:
    PodSandbox(asio::any_io_executor executor, SandboxHost& host, pid_t init_pid, UniqueFd control,
               UniqueFd pidfd, std::optional<PodFabric::Link> link);

    Result<void> reap();

    SandboxHost& host_;
    pid_t init_pid_;
    asio::posix::stream_descriptor control_;
    asio::posix::stream_descriptor pidfd_;
    std::optional<PodFabric::Link> link_;
    bool reaped_ = false;
};

}  // namespace muster::runtime
