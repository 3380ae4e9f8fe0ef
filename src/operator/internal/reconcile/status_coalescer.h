#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/time/clock.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// Delays the parts of a plan that are better written a little later. Keys are those of the queue.
/// Pure.
class StatusCoalescer {
  public:
    /// `counts_wait`: how long replica counts may be late.
    explicit StatusCoalescer(Duration counts_wait) : counts_wait_(counts_wait) {}

    /// Counts, and owned objects that list running pods, wait for further changes of this kind,
    /// unless a pod that is about to be made will read them. Takes them out of the plan, and
    /// returns when they are due. `owned_objects_ensured_before`: the job's owned objects have been
    /// correct once.
    std::optional<Instant> counts(const std::string& key, Plan& next,
                                  bool owned_objects_ensured_before, Instant now);

    /// The first status of a job waits until its pods are made, as upstream's does: if many jobs
    /// arrive together, their pods come first, and one write says what happened to them. Takes the
    /// status out of the plan, once; true if it did. Only for jobs whose status is empty.
    bool first_status(const std::string& key, Plan& next);

    void forget(const std::string& key);

  private:
    Duration counts_wait_;
    std::unordered_map<std::string, Instant> counts_due_;
    std::unordered_set<std::string> status_waited_;
};

}  // namespace muster::operators
