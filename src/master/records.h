#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "master/policy.h"

namespace muster::master {

/// How a job ended; also how it ended for one agent.
struct Verdict {
    enum class Kind : std::uint8_t {
        kSucceeded,
        kFailed,
        kExcluded,  ///< this node alone: the job goes on without it
    };
    Kind kind = Kind::kSucceeded;
    std::string text = {};               ///< for people
    std::optional<Evidence> cause = {};  ///< of a failure: what happened first

    friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// What of a job outlives its masters.
struct JobRecord {
    std::uint64_t epoch = 0;  ///< of the newest master; 0: there was none
    std::vector<Incident> incidents = {};
    std::vector<std::string> excluded = {};  ///< incarnations of agents that may not come back
    std::optional<Verdict> end = {};

    friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

/// Where a job's record is kept. What returned without an error is there when its master was
/// killed.
///
/// A seam: a file, and memory with faults; later an object of Kubernetes. Thread: one loop.
class Records {
  public:
    virtual ~Records() = default;

    /// Makes its caller the newest master: no two get the same epoch. From then on writes of
    /// earlier ones are refused.
    virtual Task<Result<JobRecord>> claim() = 0;
    /// All of it. kConflict: a newer epoch was claimed; the caller is no master any more, and must
    /// not act. Other errors: it may have been written or not.
    virtual Task<Result<void>> write(JobRecord record) = 0;
};

}  // namespace muster::master
