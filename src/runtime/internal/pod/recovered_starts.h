#pragma once

#include <vector>

#include "pod_init/init_protocol.h"
#include "runtime/internal/lifecycle/recovered_container.h"

namespace muster::runtime {

/// What the init of a recovered pod reports about its containers, gathered until it is complete.
class RecoveredStarts {
  public:
    explicit RecoveredStarts(std::size_t containers) : newest_(containers) {}

    struct Start {
        RecoveredContainer::State state = RecoveredContainer::State::kNone;
        pod_init::Report report;  ///< with its process, or its end
    };

    /// Other reports are for an earlier process and are ignored.
    void take(pod_init::Report report);
    /// By container.
    std::vector<Start>& newest() { return newest_; }

  private:
    std::vector<Start> newest_;
};

}  // namespace muster::runtime
