#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/values/json.h"
#include "sim/ledger/fault_windows.h"

namespace muster::sim {

/// What runs in the containers of a pod in place of a drawn life, from one start of them to their
/// end. It ends by itself and says so, or is killed. Destroyed, it is killed as well.
///
/// Thread: one loop.
class PodProgram {
  public:
    virtual ~PodProgram() = default;

    /// SIGTERM. It may end by itself from then on; who says this kills it when its grace is over.
    virtual void terminate() = 0;
    enum class Death {
        kOfContainer,  ///< its connections break
        kOfMachine     ///< no connection sees an end
    };
    /// Nothing of it acts any more, and its end is not told.
    virtual void kill(Death death) = 0;
    /// Its machine is cut off from all others, or is so no more.
    virtual void cut_off(bool so) = 0;
};

/// Where a pod's containers start.
struct PodPlace {
    int node;
    std::string address;         ///< of the pod; no other has it
    const FaultWindows& faults;  ///< of the machine; outlives the program
};

/// A program for the containers of this pod, or null: they have a drawn life. `ended` is called
/// once, with the exit code, and not from within this call.
using StartProgram = std::function<std::unique_ptr<PodProgram>(
    const json::value& pod, PodPlace place, std::function<void(std::int32_t exit_code)> ended)>;

}  // namespace muster::sim
