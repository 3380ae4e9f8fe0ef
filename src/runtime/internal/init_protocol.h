#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/internal/unique_fd.h"

// What `muster` and a pod's init say to each other, over a SOCK_SEQPACKET pair. Both ends are the
// same binary, so the form is private and has no versions. Used inside the init: plain system calls
// only.

namespace muster::runtime {

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
    std::uint32_t address = 0;  ///< host byte order, as below
    std::uint32_t gateway = 0;
    std::uint8_t prefix = 16;
    std::string gateway_mac;  ///< 6 bytes

    friend bool operator==(const PodLink&, const PodLink&) = default;
};

struct PodSetup {
    bool namespaces = false;
    std::string hostname;
    std::optional<PodLink> link;
    std::vector<MountSpec> mounts;  ///< shared by all containers of the pod

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

    friend bool operator==(const ContainerStart&, const ContainerStart&) = default;
};

/// Why a container's program could not be started.
enum class StartStage : std::uint8_t {
    kMount,
    kWorkingDir,
    kProgramMissing,
    kNotExecutable,
    kInterpreterMissing,
    kFormat,
    kOther,
};

struct Request {
    enum class Kind : std::uint8_t { kSetup, kStart };

    Kind kind = Kind::kSetup;
    PodSetup setup;
    ContainerStart start;
    UniqueFd stdout_fd;  ///< of a start
    UniqueFd stderr_fd;
};

struct Report {
    enum class Kind : std::uint8_t {
        kReady,        ///< set-up is done
        kSetupFailed,  ///< text says why; the init ends
        kStarted,      ///< id, pid, pidfd of the main process
        kStartFailed,  ///< id, stage, value = errno, text = the path or the interpreter
        kExited,       ///< id, value = wait status; no process of the container is left
    };

    Kind kind = Kind::kReady;
    std::uint32_t id = 0;
    std::int32_t value = 0;
    std::int32_t pid = 0;  ///< as the pod sees it
    StartStage stage = StartStage::kOther;
    std::string text;
    UniqueFd pidfd;
};

/// The two ends, close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> make_control_pair();

/// Sends with the payload in a memory file, so that an environment of megabytes fits.
Result<void> send_setup(int socket, const PodSetup& setup);
Result<void> send_start(int socket, const ContainerStart& start, int stdout_fd, int stderr_fd);
/// Blocks. nullopt when the other end is closed.
Result<std::optional<Request>> receive_request(int socket);

Result<void> send_report(int socket, const Report& report);
enum class Receive { kReport, kNothing, kClosed };
/// Never blocks.
Result<Receive> receive_report(int socket, Report& report);

}  // namespace muster::runtime
