#pragma once

#include <optional>
#include <vector>

#include "runtime/internal/pod/pod_context.h"
#include "runtime/internal/pod/recovered_starts.h"

namespace muster::runtime {

/// How a worker begins with a pod that an earlier process started and that still runs: gathers what
/// the pod's init reports about its containers, and restores their instances from that. Thread: the
/// loop.
class PodRecovery {
  public:
    explicit PodRecovery(PodContext& pod) : pod_(pod) {}

    /// The pod's sandbox is connected again, and its init begins to report.
    void begin(RecoveredPod recovered);
    /// The init has not reported everything yet.
    bool under_way() const { return starts_.has_value(); }
    void take(pod_init::Report report) { starts_->take(std::move(report)); }
    /// Everything is reported: the present state of each container, with its instances in the
    /// context.
    std::vector<RecoveredContainer> finish();
    /// The init is gone before it reported everything.
    void abandon() { starts_.reset(); }

  private:
    RecoveredContainer recover(std::size_t index, RecoveredStarts::Start& start);
    void add_run(RunId id, bool ended);

    PodContext& pod_;
    std::optional<RecoveredStarts> starts_;
};

}  // namespace muster::runtime
