#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/time/clock.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// What a plan has that had better be written a little later. Keys are those of the queue. Pure.
class StatusCoalescer {
  public:
    /// `counts_wait`: how long numbers of replicas may be late.
    explicit StatusCoalescer(Duration counts_wait) : counts_wait_(counts_wait) {}

    /// Counts, and owned objects that tell of running pods, wait for more of the same; not what a
    /// pod that is about to be made will see. Takes them out of the plan, and returns when they are
    /// due. `owned_objects_ensured_before`: the job's owned objects have been as they should be
    /// once.
    std::optional<Instant> counts(const std::string& key, Plan& next,
                                  bool owned_objects_ensured_before, Instant now);

    /// The first status of a job waits until its pods are made, as upstream's does: of many jobs
    /// that come at once the pods come first, and what has become of them is told in one write.
    /// Takes it out of the plan, once; true when it did. Only for jobs whose status is empty.
    bool first_status(const std::string& key, Plan& next);

    void forget(const std::string& key);

  private:
    Duration counts_wait_;
    std::unordered_map<std::string, Instant> counts_due_;
    std::unordered_set<std::string> status_waited_;
};

}  // namespace muster::operators
