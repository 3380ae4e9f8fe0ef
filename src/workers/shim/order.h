#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/memory_policy.h"

// What an agent tells a shim, and a shim its agent. The shim is a program of its own that loads no
// library: nothing of base/ here.

namespace muster::workers {

/// Where one of a worker's two streams goes.
struct OutputOrder {
    /// As the agent's own stream, without anybody in between. Nothing else matters then.
    bool inherit = true;
    std::string file = {};    ///< absolute; empty: none
    bool console = false;     ///< every line to the agent's own stream, too,
    std::string prefix = {};  ///< with this before it
    /// Absolute, and that of other workers as well; empty: none. Gets the lines with one of these
    /// texts in them, with the prefix.
    std::string filtered = {};
    std::vector<std::string> texts = {};

    friend bool operator==(const OutputOrder&, const OutputOrder&) = default;
};

/// One worker: all that its shim needs to start and to end it, with an agent and without one.
struct ShimOrder {
    std::vector<std::string> candidates = {};   ///< files to execute; the first that can be
    std::vector<std::string> arguments = {};    ///< argv, the program's name included
    std::vector<std::string> environment = {};  ///< "KEY=value"
    OutputOrder out = {};
    OutputOrder error = {};
    std::uint64_t rotate_bytes = 0;       ///< a log file is no longer than this; 0: it may grow
    std::uint32_t rotate_files = 1;       ///< so many are kept of a stream, with the one written to
    std::string directory = {};           ///< of the job; absolute
    std::string socket = {};              ///< its own name in there, where a new agent finds it
    std::vector<std::string> files = {};  ///< others in there that are this worker's
    std::string record = {};              ///< in there; goes with the last shim
    std::string group = {};  ///< a cgroup of version 2 to make for the worker; empty: none
    std::vector<std::uint32_t> cpus = {};  ///< it may run on these; none: on any
    launch::MemoryPolicy memory = launch::MemoryPolicy::kNone;
    std::vector<std::uint32_t> nodes = {};  ///< of memory, for the policy
    std::uint64_t orphan_grace_ms = 1000;   ///< without an agent, until the worker is ended
    /// The program waits to become a worker (docs/design/warm.md), and has kSpareControlFd of the
    /// shim as its kShimControlFd. The worker's own order comes later (ShimRequest::Kind::kBecome).
    bool spare = false;

    friend bool operator==(const ShimOrder&, const ShimOrder&) = default;
};

std::string encode(const ShimOrder& order);
/// Nothing: these are not the bytes of an order.
std::optional<ShimOrder> decode_order(std::string_view bytes);

/// The descriptors with which a shim begins, beside the agent's own standard output and error.
inline constexpr int kShimControlFd = 3;   ///< one end of a SOCK_SEQPACKET pair
inline constexpr int kShimListenerFd = 4;  ///< bound in the job's directory
inline constexpr int kShimOrderFd = 5;     ///< a file with the order
inline constexpr int kSpareControlFd = 6;  ///< of a spare: its side of what it is told

/// Both sides of a conversation have it, as an agent may find shims of another version's agent.
inline constexpr std::uint32_t kShimVersion = 1;

enum class ShimStage : std::uint32_t {
    kOrder,     ///< the order could not be read
    kExecute,   ///< becoming the program
    kAffinity,  ///< being bound to processors
    kPipe,      ///< a pipe, a process or a descriptor was refused
};

/// A message of a shim. Those with descriptors are the first of a conversation.
struct ShimReport {
    enum class Kind : std::uint32_t {
        kRuns = 1,  ///< with the worker's pidfd and the shim's; kEnded follows if it has ended
        kFailed,    ///< there is no worker, and soon no shim
        kNote,      ///< for people: something was not done as ordered, and the worker goes on
        kLost,      ///< some of the output could not be written to its file, for the first time
        kEnded,     ///< the worker itself; told again to each new agent
        kBecame,    ///< answers kBecome: with what the worker shall write to, output and error
    };
    std::uint32_t version = kShimVersion;
    Kind kind = Kind::kRuns;
    std::int32_t worker = 0;       ///< pid
    std::int32_t shim = 0;         ///< pid
    std::int32_t wait_status = 0;  ///< kEnded
    std::int32_t error = 0;        ///< errno: kFailed, kNote, kLost
    ShimStage stage = ShimStage::kOrder;
    std::uint32_t stream = 0;      ///< 1 output, 2 error: kLost
    std::int64_t wall_ns = 0;      ///< when it ended: kEnded
    std::uint64_t lost_bytes = 0;  ///< of the output so far: kLost, kEnded
    char text[256] = {};           ///< kNote; the file's path, or its beginning: kLost
};

/// A message of an agent.
struct ShimRequest {
    enum class Kind : std::uint32_t {
        /// End the worker, and then yourself. SIGTERM to its process group, and after the grace
        /// SIGKILL to all that is left of its tree. One with less time overrides another.
        kEnd = 0,
        /// Comes with a file: the order of the worker that the spare is from now on. Its output and
        /// its files count; the rest is as it was when the spare began.
        kBecome = 1,
    };
    std::uint32_t version = kShimVersion;
    Kind kind = Kind::kEnd;
    std::int64_t grace_ns = 0;
};

}  // namespace muster::workers
