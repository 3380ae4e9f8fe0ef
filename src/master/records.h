#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "master/service/vocabulary.h"

namespace muster::master {

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
