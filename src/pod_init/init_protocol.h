#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pod_init/log_limits.h"
#include "pod_init/private_files.h"
#include "pod_init/program_identity.h"

// The messages between `muster` and a pod's init, and between the init and a container's
// supervisor, over a SOCK_SEQPACKET pair. A program and the init embedded in it are built together,
// so the format is private and has no versions. Used inside the init: plain system calls only.

namespace muster::pod_init {

/// One mount of a container. Sources are opened before anything is mounted, so a source may lie
/// below a target.
struct MountSpec {
    enum class Kind : std::uint8_t { kBind, kTmpfs };

    Kind kind = Kind::kBind;
    std::string source;  ///< of a bind: a path as seen by the machine
    /// Of a bind: the part of the source that is mounted. Made as a directory if it is missing; a
    /// link that leads out of the source is refused.
    std::string sub_path = {};
    std::string target;   ///< absolute
    std::string options;  ///< of a tmpfs: "mode=0777,size=1048576"
    bool read_only = false;
    /// Everything below the target belongs to the pod: missing mount points are made there.
    bool owned = false;

    friend bool operator==(const MountSpec&, const MountSpec&) = default;
};

/// The pod's side of its link.
struct PodLink {
    static constexpr std::uint32_t kIndex = 2;  ///< of eth0 in the pod
    std::uint32_t address = 0;                  ///< host byte order, as below
    std::uint32_t gateway = 0;
    std::uint8_t prefix = 16;
    std::string gateway_mac;  ///< 6 bytes

    friend bool operator==(const PodLink&, const PodLink&) = default;
};

struct PodSetup {
    bool namespaces = false;
    /// The pod keeps running when the other end closes, and a process that connects to the
    /// listening socket passed along becomes the other end.
    bool outlives = false;
    /// Sent to the next process that connects: the pod's address, the number of the router's side
    /// of the link, and a note of the node.
    std::uint32_t address = 0;
    std::uint32_t link_index = 0;
    std::string note = {};
    std::string hostname;
    std::optional<PodLink> link;
    std::vector<MountSpec> mounts;  ///< shared by all containers of the pod
    PrivateFiles files = {};
    std::vector<std::pair<std::string, std::string>> sysctls = {};
    std::uint64_t pids = 0;  ///< limit of processes and threads; 0: none
    /// Parts of /proc and /sys that change the machine stay writable.
    bool privileged = false;

    friend bool operator==(const PodSetup&, const PodSetup&) = default;
};

struct ContainerStart {
    std::uint32_t id = 0;
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::string working_dir;
    std::vector<MountSpec> mounts;
    /// A directory of this container in which a file system may be assembled.
    std::string scratch_dir;
    Identity identity = {};
    /// Mounts are read-only, except those above that are not.
    bool read_only_root = false;
    /// Name in the log's directory, whose descriptor is passed along.
    std::string log_name;
    LogLimits log_limits;
    bool terminal = false;    ///< its standard streams are a terminal
    bool input = false;       ///< attached clients can write to its input
    bool input_once = false;  ///< ... which ends with the first of them

    friend bool operator==(const ContainerStart&, const ContainerStart&) = default;
};

/// A command to run inside a running container, in its environment.
struct ExecStart {
    std::uint32_t id = 0;         ///< of the exec; unique in the pod
    std::uint32_t container = 0;  ///< of its start
    std::vector<std::string> argv;
    /// It gets a terminal of its own; the other end is sent with kTerminal.
    bool terminal = false;

    friend bool operator==(const ExecStart&, const ExecStart&) = default;
};
/// How much of an exec's output is kept if it has no streams.
inline constexpr std::size_t kExecOutputLimit = std::size_t{10} * 1024;

/// The stage at which a container's program could not be started.
enum class StartStage : std::uint8_t {
    kMount,
    kWorkingDir,
    kGroup,     ///< entering its cgroup
    kIdentity,  ///< assuming its identity; the detail says which step failed
    kProgramMissing,
    kNotExecutable,
    kInterpreterMissing,
    kFormat,
    kOther,
};

/// Why a container's program did not start.
struct StartFailure {
    StartStage stage = StartStage::kOther;
    int error = 0;
    std::string detail;  ///< the path or the interpreter that failed

    friend bool operator==(const StartFailure&, const StartFailure&) = default;
};

struct Request {
    enum class Kind : std::uint8_t {
        kSetup,  ///< setup
        kStart,  ///< start
        kExec,   ///< exec; kExecEnded follows in any case
        /// exec.id, exec.container, exec.terminal: whether input is wanted, which is sent with
        /// kTerminal. Two of `streams` get copies of the container's output from now on; a full one
        /// stops the container. kExecEnded follows.
        kAttach,
        kEndInput,  ///< exec.id, exec.container: of an attached client
        kCancel,    ///< exec.id, exec.container: kill it, or detach
        kEnd,       ///< kill everything and end; for an init that outlives its `muster`
    };

    Kind kind = Kind::kSetup;
    PodSetup setup;
    ContainerStart start;
    ExecStart exec;
    /// For a setup: the process to end with, or the socket to listen on (`outlives`).
    UniqueFd lifeline;
    /// For a setup: the network of the router, kept for the next process that connects; unset
    /// without namespaces, or if the pod does not outlive us.
    UniqueFd network;
    /// For a start: the directory of its log.
    UniqueFd log_dir;
    /// For a start: the directories of the container's cgroups.
    std::vector<UniqueFd> groups;
    /// For an exec: its standard input, output and error. Without them it reads nothing, and its
    /// output is sent with its end (or through its terminal).
    std::vector<UniqueFd> streams;
};

struct Report {
    enum class Kind : std::uint8_t {
        /// Setup is done; with the init's own pidfd. A process that connects later gets this first,
        /// with `recovery` and `network`, then kStarted, kStarting and the ends of everything
        /// started so far, then kTold.
        kReady,
        kSetupFailed,  ///< text says why; the init ends
        kStarting,     ///< id: it was requested, and has neither started nor failed yet
        kStarted,      ///< id, pid, pidfd of the main process
        kStartFailed,  ///< id, stage, value = errno, text = the path or the interpreter
        /// id, value = wait status; no process of the container is left, and its log is complete
        /// except for what `text` says.
        kExited,
        /// id of the exec, value = wait status, text = the beginning of its output; with streams or
        /// a terminal, why it could not be started
        kExecEnded,
        /// id of the exec, the other end of its terminal; for an attached client the target of its
        /// input, if any
        kTerminal,
        kTold,  ///< the following reports happen now
    };
    /// Of the setup, and how many have connected so far.
    struct Recovery {
        std::uint32_t address = 0;
        std::uint32_t link_index = 0;
        std::uint32_t connections = 0;
    };

    Kind kind = Kind::kReady;
    std::uint32_t id = 0;
    std::int32_t value = 0;
    std::int32_t pid = 0;  ///< as seen inside the pod
    StartStage stage = StartStage::kOther;
    std::string text;
    UniqueFd pidfd;
    UniqueFd terminal;
    Recovery recovery;  ///< with the note in `text`
    UniqueFd network;
};

/// Sends the payload in a memory file, so that an environment of megabytes fits. The caller keeps
/// its descriptors. `network` -1: none.
Result<void> send_setup(int socket, const PodSetup& setup, int lifeline, int network = -1);
Result<void> send_start(int socket, const ContainerStart& start, int log_dir,
                        std::span<const int> groups);
/// `streams`: three descriptors or none.
Result<void> send_exec(int socket, const ExecStart& exec, std::span<const int> streams);
Result<void> send_attach(int socket, const ExecStart& exec, std::span<const int> streams);
Result<void> send_end_of_input(int socket, const ExecStart& exec);
Result<void> send_cancel(int socket, const ExecStart& exec);
Result<void> send_end(int socket);
/// Passes on a request about an exec.
Result<void> forward(int socket, const Request& request);
/// Blocks. nullopt if the other end is closed.
Result<std::optional<Request>> receive_request(int socket);

/// Blocks while the other end does not read.
Result<void> send_report(int socket, const Report& report);
/// Never blocks; false if there is no room now.
Result<bool> try_send_report(int socket, const Report& report);
enum class Receive { kReport, kNothing, kClosed };
/// Never blocks.
Result<Receive> receive_report(int socket, Report& report);

}  // namespace muster::pod_init
