#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/namespaced_name.h"
#include "store/store.h"

namespace muster::sim {

/// "operator-1" and its like, as writers; any other name is another client.
bool by_operator(std::string_view who);
/// A job's master, of any job.
bool by_master(std::string_view who);

/// When something changed last that gives others a reason to write about a job. Thread: one loop.
class JobCauses {
  public:
    /// A change was committed. Returns the uid of the job that it is about: of the job itself, of what
    /// it owns, of its plans and of the events about it; "" for none.
    std::string note(std::string_view who, const store::StoreChange& change, Instant now);
    /// Since when nothing was changed about this job but by those whom `who` belongs to: operators, or
    /// masters.
    Instant last_for(std::string_view who, const std::string& uid) const;

  private:
    struct Last {
        Instant by_operators{};
        Instant by_masters{};
        Instant by_others{};
    };

    std::string job_of(const store::StoreChange& change);

    std::map<std::string, Last> last_;  ///< by the uid of the job
    std::map<kube::NamespacedName, std::string>
        uids_;  ///< of jobs that have plans, newest of a name
};

}  // namespace muster::sim
