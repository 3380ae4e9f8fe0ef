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

// What `muster` and a pod's init say to each other, and the init and a container's supervisor, over
// a SOCK_SEQPACKET pair. A program and the init that it carries are built together, so the form is
// private and has no versions.
// Used inside the init: plain system calls only.

namespace muster::pod_init {

/// One mount of a container. Sources are taken before anything is mounted, so a source may lie
/// below a target.
struct MountSpec {
    enum class Kind : std::uint8_t { kBind, kTmpfs };

    Kind kind = Kind::kBind;
    std::string source;  ///< of a bind: a path as the machine sees it
    /// Of a bind: what is mounted of the source. Made, as a directory, if it is missing; a link
    /// that leads out of the source is refused.
    std::string sub_path = {};
    std::string target;   ///< absolute
    std::string options;  ///< of a tmpfs: "mode=0777,size=1048576"
    bool read_only = false;
    /// What is below the target belongs to the pod: mount points that are missing there are made.
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
    /// The pod keeps running when the other end closes, and what connects to the listening socket
    /// that came along is the other end from then on.
    bool outlives = false;
    /// What the next one that connects is told again: the pod's address, the number of the
    /// router's side of the link, and what the node wants to remember.
    std::uint32_t address = 0;
    std::uint32_t link_index = 0;
    std::string note = {};
    std::string hostname;
    std::optional<PodLink> link;
    std::vector<MountSpec> mounts;  ///< shared by all containers of the pod
    PrivateFiles files = {};
    std::vector<std::pair<std::string, std::string>> sysctls = {};
    std::uint64_t pids = 0;  ///< at most so many processes and threads; 0: as many as there can be
    /// What changes the machine through /proc and /sys stays writable.
    bool privileged = false;

    friend bool operator==(const PodSetup&, const PodSetup&) = default;
};

struct ContainerStart {
    std::uint32_t id = 0;
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::string working_dir;
    std::vector<MountSpec> mounts;
    /// A directory of this container where a file system may be put together.
    std::string scratch_dir;
    Identity identity = {};
    /// What is mounted is read-only, but for the mounts above that are not.
    bool read_only_root = false;
    /// In the log's directory, whose descriptor comes along.
    std::string log_name;
    LogLimits log_limits;
    bool terminal = false;    ///< its standard streams are one
    bool input = false;       ///< it has an input that attached clients can write to
    bool input_once = false;  ///< ... which ends with the first of them

    friend bool operator==(const ContainerStart&, const ContainerStart&) = default;
};

/// A command to be run inside a container that runs: where it is, as it is.
struct ExecStart {
    std::uint32_t id = 0;         ///< of the exec; never that of another one of the same pod
    std::uint32_t container = 0;  ///< of its start
    std::vector<std::string> argv;
    /// It gets a terminal of its own, whose other end comes with kTerminal.
    bool terminal = false;

    friend bool operator==(const ExecStart&, const ExecStart&) = default;
};
/// What is kept of an exec's output, where it has no streams.
inline constexpr std::size_t kExecOutputLimit = std::size_t{10} * 1024;

/// What failed where a container's program could not be started.
enum class StartStage : std::uint8_t {
    kMount,
    kWorkingDir,
    kGroup,     ///< entering its cgroup
    kIdentity,  ///< assuming its identity; the detail says what failed
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
    std::string detail;  ///< the path or the interpreter that it is about

    friend bool operator==(const StartFailure&, const StartFailure&) = default;
};

struct Request {
    enum class Kind : std::uint8_t {
        kSetup,  ///< setup
        kStart,  ///< start
        kExec,   ///< exec; kExecEnded follows, whatever comes of it
        /// exec.id, exec.container, exec.terminal: whether its input is wanted, which comes with
        /// kTerminal. Two of `streams` take copies of what the container writes from now on; one
        /// that is full holds the container up. kExecEnded follows.
        kAttach,
        kEndInput,  ///< exec.id, exec.container: of an attached one
        kCancel,    ///< exec.id, exec.container: kill it, or detach
        kEnd,       ///< kill everything and end; for an init that outlives its `muster`
    };

    Kind kind = Kind::kSetup;
    PodSetup setup;
    ContainerStart start;
    ExecStart exec;
    /// Of a setup: the process to end with, or the socket to listen at (`outlives`).
    UniqueFd lifeline;
    /// Of a setup: the network of the router, held for the next one that connects; none without
    /// namespaces, or if the pod does not outlive us.
    UniqueFd network;
    /// Of a start: where its log goes.
    UniqueFd log_dir;
    /// Of a start: the directories of the container's cgroups.
    std::vector<UniqueFd> groups;
    /// Of an exec: its standard input, output and error. None: it reads nothing, and its output
    /// comes with its end (or by its terminal).
    std::vector<UniqueFd> streams;
};

struct Report {
    enum class Kind : std::uint8_t {
        /// Set-up is done; with the init's own pidfd. One that connects later gets it first, with
        /// `recovery` and `network`, then kStarted, kStarting and the ends of what was started so
        /// far,
        /// then kTold.
        kReady,
        kSetupFailed,  ///< text says why; the init ends
        kStarting,     ///< id: it was asked for, and neither runs nor has failed yet
        kStarted,      ///< id, pid, pidfd of the main process
        kStartFailed,  ///< id, stage, value = errno, text = the path or the interpreter
        /// id, value = wait status; no process of the container is left, and its log is complete
        /// but for what `text` says.
        kExited,
        /// id of the exec, value = wait status, text = its output's beginning; of one with streams
        /// or a terminal why it could not be started
        kExecEnded,
        /// id of the exec, its terminal's other end; of what is attached, where input goes, if
        /// anywhere
        kTerminal,
        kTold,  ///< what follows happens now
    };
    /// Of the set-up, and how many have connected so far.
    struct Recovery {
        std::uint32_t address = 0;
        std::uint32_t link_index = 0;
        std::uint32_t connections = 0;
    };

    Kind kind = Kind::kReady;
    std::uint32_t id = 0;
    std::int32_t value = 0;
    std::int32_t pid = 0;  ///< as the pod sees it
    StartStage stage = StartStage::kOther;
    std::string text;
    UniqueFd pidfd;
    UniqueFd terminal;
    Recovery recovery;  ///< with `text`, the note
    UniqueFd network;
};

/// Sends with the payload in a memory file, so that an environment of megabytes fits. The
/// descriptors stay the caller's. `network` -1: none.
Result<void> send_setup(int socket, const PodSetup& setup, int lifeline, int network = -1);
Result<void> send_start(int socket, const ContainerStart& start, int log_dir,
                        std::span<const int> groups);
/// `streams`: three descriptors or none.
Result<void> send_exec(int socket, const ExecStart& exec, std::span<const int> streams);
Result<void> send_attach(int socket, const ExecStart& exec, std::span<const int> streams);
Result<void> send_end_of_input(int socket, const ExecStart& exec);
Result<void> send_cancel(int socket, const ExecStart& exec);
Result<void> send_end(int socket);
/// Passes a request about an exec on.
Result<void> forward(int socket, const Request& request);
/// Blocks. nullopt when the other end is closed.
Result<std::optional<Request>> receive_request(int socket);

/// Blocks while the other end does not read.
Result<void> send_report(int socket, const Report& report);
/// Never blocks; false when there is no room now.
Result<bool> try_send_report(int socket, const Report& report);
enum class Receive { kReport, kNothing, kClosed };
/// Never blocks.
Result<Receive> receive_report(int socket, Report& report);

}  // namespace muster::pod_init
