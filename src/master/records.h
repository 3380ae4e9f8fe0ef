#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "master/service/vocabulary.h"

namespace muster::master {

/// Where a job's record is kept. What was written without an error survives the death of its
/// master.
///
/// A seam: a file, or memory with faults; a Kubernetes object may follow. Thread: one loop.
class Records {
  public:
    virtual ~Records() = default;

    /// Makes its caller the newest master: no epoch is returned twice. From then on writes by
    /// earlier masters are refused.
    virtual Task<Result<JobRecord>> claim() = 0;
    /// Writes the whole record. kConflict: a newer epoch was claimed; the caller is no longer the
    /// master, and must not act. Other errors: it may or may not have been written.
    virtual Task<Result<void>> write(JobRecord record) = 0;
};

}  // namespace muster::master
