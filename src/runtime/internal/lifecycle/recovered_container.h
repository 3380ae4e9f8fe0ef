#pragma once

#include <cstdint>
#include <string>

namespace muster::runtime {

/// How a container's processes ended.
struct ContainerEnd {
    int exit_code = 0;   ///< 128 + the signal for a killed process
    std::string reason;  ///< if empty, it follows from the exit code
    std::string message;
};

/// What the init of a pod that outlived its process reports about a container: its newest start, if
/// there was one in this sandbox.
struct RecoveredContainer {
    enum class State {
        kNone,      ///< not started in this sandbox
        kStarting,  ///< requested; the outcome is still to come
        kRunning,
        kEnded,   ///< end
        kFailed,  ///< could not be started; end.message
    };
    State state = State::kNone;
    std::uint32_t launch = 0;  ///< the number of that start in the pod's life, from 1
    std::string container_id;
    ContainerEnd end;
};

}  // namespace muster::runtime
