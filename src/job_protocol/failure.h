#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "job_protocol/world.h"

namespace muster::job_protocol {

/// What was seen.
enum class FailureKind : std::uint8_t {
    kWorkerExited,  ///< with a code other than 0, or by a signal
    kNotStarted,    ///< the workers of a node could not be started
    kOutOfMemory,   ///< a worker was killed for the memory that it used
    kDisconnected,  ///< of an agent, which has not come back
    kTimedOut,      ///< longer than the heartbeat limit
    kNodeEvicted,   ///< the platform takes the node away
    kCheckFailed,   ///< the node check names it
};

struct FailureReport {
    FailureKind kind = FailureKind::kWorkerExited;
    Generation generation = {};  ///< in which it happened
    int restarts = 0;            ///< the attempt, as World::restarts: a generation may have several
    Slot slot = 0;
    std::string node = {};              ///< for people: its address
    std::optional<int> rank = {};       ///< of a worker
    std::optional<int> exit_code = {};  ///< without one: a signal
    int signal = 0;
    /// The last line of the error file or of the traceback: "ValueError: no such column".
    std::string error = {};
    WallTime when = {};  ///< by the node's own clock; the error file's where there is one

    friend bool operator==(const FailureReport&, const FailureReport&) = default;
};

/// What a failure is charged to. Each has a budget of its own: a node that is taken away must not
/// use up what is meant for a program that crashes.
enum class Charge : std::uint8_t {
    kNothing,  ///< eviction, growth, what was asked for
    kWorker,   ///< the program died; --max-restarts
    kMemory,   ///< it was killed for the memory that it used
    kNode,     ///< a node broke or vanished
};
inline constexpr std::size_t kCharges = 4;
std::string_view to_string(Charge charge);

/// What was charged, as a master's records keep it: an attempt is charged once, whoever decides.
struct Incident {
    Charge charge = Charge::kNothing;
    WallTime when = {};
    Generation generation = {};
    int restarts = 0;
    std::string error = {};

    friend bool operator==(const Incident&, const Incident&) = default;
};

/// "worker 3 on 10.0.0.7 was killed by SIGSEGV (exit code 139): ValueError: ..."
std::string describe(const FailureReport& evidence);

}  // namespace muster::job_protocol
