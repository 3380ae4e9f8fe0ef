#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/memory_policy.h"

// The messages between an agent and a shim. The shim is a program of its own that loads no library,
// so nothing of base/ is used here.

namespace muster::workers {

/// A file by which directories in TMPDIR are known as those of agents.
inline constexpr const char* kJobMarker = ".muster-job";

/// Where one of a worker's two streams goes.
struct OutputOrder {
    /// The worker uses the agent's own stream directly. The other fields have no effect then.
    bool inherit = true;
    std::string file = {};    ///< absolute; empty: none
    bool console = false;     ///< every line also goes to the agent's own stream,
    std::string prefix = {};  ///< with this prefix
    /// Absolute; shared with other workers; empty: none. Gets the lines that contain one of these
    /// texts, with the prefix.
    std::string filtered = {};
    std::vector<std::string> texts = {};

    friend bool operator==(const OutputOrder&, const OutputOrder&) = default;
};

/// All that a shim needs to start one worker and to end it, with an agent and without one.
struct ShimOrder {
    std::vector<std::string> candidates = {};   ///< files to execute; the first that works is used
    std::vector<std::string> arguments = {};    ///< argv, including the program's name
    std::vector<std::string> environment = {};  ///< "KEY=value"
    OutputOrder out = {};
    OutputOrder error = {};
    std::uint64_t rotate_bytes = 0;  ///< the largest size of a log file; 0: no limit
    std::uint32_t rotate_files = 1;  ///< files kept per stream, including the current one
    std::string directory = {};      ///< the job's directory; absolute
    std::string socket = {};  ///< the socket's name in that directory, where a new agent finds it
    std::vector<std::string> files = {};  ///< other files of this worker in that directory
    std::string record = {};  ///< the record of the set in that directory; the last shim removes it
    std::string keep = {};    ///< with all others, but for those whose name begins so; empty: none
    std::string group = {};   ///< cgroup of version 2 to create for the worker; empty: none
    std::vector<std::uint32_t> cpus = {};  ///< CPUs it may run on; empty: all
    launch::MemoryPolicy memory = launch::MemoryPolicy::kNone;
    std::vector<std::uint32_t> nodes = {};  ///< NUMA nodes of the memory policy
    std::uint64_t orphan_grace_ms = 1000;   ///< how long the worker may run without an agent
    /// The worker's soft limit of core dumps; unset: that of the shim.
    std::optional<std::uint64_t> core_bytes = {};
    /// The program waits to become a worker (docs/design/warm.md), and its kShimControlFd is the
    /// shim's kSpareControlFd. The worker's own order comes later (ShimRequest::Kind::kBecome).
    bool spare = false;

    friend bool operator==(const ShimOrder&, const ShimOrder&) = default;
};

std::string encode(const ShimOrder& order);
/// nullopt if the bytes are not an order.
std::optional<ShimOrder> decode_order(std::string_view bytes);

/// The descriptors that a shim starts with, besides the agent's own stdout and stderr, and the input
/// of its worker as stdin.
inline constexpr int kShimControlFd = 3;   ///< one end of a SOCK_SEQPACKET pair
inline constexpr int kShimListenerFd = 4;  ///< bound in the job's directory
inline constexpr int kShimOrderFd = 5;     ///< a file with the order
inline constexpr int kSpareControlFd = 6;  ///< for a spare: its end of the control socket

/// Sent by both sides, because an agent may find shims that an agent of another version started.
inline constexpr std::uint32_t kShimVersion = 2;

enum class ShimStage : std::uint32_t {
    kOrder,     ///< reading the order
    kExecute,   ///< executing the program
    kAffinity,  ///< binding to CPUs
    kPipe,      ///< creating a pipe, a process or a descriptor
};

/// A message from a shim. Those that carry descriptors come first in a conversation.
struct ShimReport {
    enum class Kind : std::uint32_t {
        kRuns = 1,  ///< with pidfds of worker and shim; kEnded follows if the worker has ended
        kFailed,    ///< there is no worker, and the shim is about to exit
        kNote,      ///< for people: something differs from the order, and the worker continues
        kLost,      ///< output was lost because its file could not be written; sent once
        kEnded,     ///< the worker itself has ended; repeated to each new agent
        kBecame,    ///< answers kBecome, with descriptors for the worker's stdout and stderr
        kForced,    ///< the worker has not ended within the grace, and is killed
        kLeft,  ///< the worker succeeded; what it has left behind may run until the grace is over
        kLeftOver,  ///< it is over: what was left behind is killed
        kShows,     ///< nothing runs any more; the console is still being written to
        kUnshown,   ///< the console did not accept some output; sent at the end
    };
    std::uint32_t version = kShimVersion;
    Kind kind = Kind::kRuns;
    std::int32_t worker = 0;       ///< pid
    std::int32_t shim = 0;         ///< pid
    std::int32_t wait_status = 0;  ///< kEnded
    std::int32_t error = 0;        ///< errno: kFailed, kNote, kLost, kUnshown (0: nothing read it)
    ShimStage stage = ShimStage::kOrder;
    std::uint32_t stream = 0;      ///< kLost, kUnshown: 1 stdout, 2 stderr
    std::int64_t wall_ns = 0;      ///< kEnded: when
    std::uint64_t lost_bytes = 0;  ///< kLost, kEnded: output lost so far; kUnshown: not shown
    /// kNote: the text. kLost, kUnshown: the file's path, perhaps truncated; empty without a file.
    /// kLeft, kLeftOver: the processes.
    char text[256] = {};
};

/// A message from an agent.
struct ShimRequest {
    enum class Kind : std::uint32_t {
        /// End the worker, then exit. Sends the signal to its process group, and after the grace
        /// SIGKILL to whatever is left of its tree. What a worker that succeeded has left behind
        /// gets no signal before the grace is over. A request with a shorter grace overrides an
        /// earlier one; without a grace the rest of the output is not waited for either.
        kEnd = 0,
        /// Comes with a file: the order of the worker that the spare now is. Only its output and
        /// its files count; the rest stays as it was when the spare started.
        kBecome = 1,
    };
    std::uint32_t version = kShimVersion;
    Kind kind = Kind::kEnd;
    std::int32_t signal = 0;  ///< kEnd
    std::int64_t grace_ns = 0;
};

}  // namespace muster::workers
