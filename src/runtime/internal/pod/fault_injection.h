#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "runtime/fault_injection.h"
#include "runtime/internal/pod/pod_context.h"

namespace muster::runtime {

/// The faults that are injected into one pod. Its life continues as if the machine had caused them.
/// Thread: the loop.
class FaultInjection {
  public:
    explicit FaultInjection(PodContext& pod) : pod_(pod) {}

    // The implementations of Node's functions of these names.
    Result<pid_t> signal(PodSignal signal);
    Result<void> begin_fault(PodFault fault);
    Result<void> end_fault(PodFault fault);

  private:
    /// The program of its first main container that is running.
    Result<const ContainerRun*> running_program() const;
    /// Everything that its containers run, whatever their parents are: the supervisors are
    /// subreapers.
    std::vector<pid_t> processes() const;
    void pause();

    PodContext& pod_;
    std::set<PodFault> faults_;  ///< in effect
};

}  // namespace muster::runtime
