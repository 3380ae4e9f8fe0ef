#pragma once

#include "base/time/clock.h"
#include "master/records.h"

namespace muster::master_process {

/// Records whose claim waits until it succeeds: a master that can't have its record can't decide
/// anything, and agents continue without one. Each trouble is logged, the same one once a minute.
///
/// Refers to both. Thread: theirs.
class PatientRecords final : public master::Records {
  public:
    PatientRecords(master::Records& below, Clock& clock) : below_(below), clock_(clock) {}

    /// Returns no error.
    Task<Result<job_protocol::JobRecord>> claim() override;
    Task<Result<void>> write(job_protocol::JobRecord record) override {
        return below_.write(std::move(record));
    }

  private:
    master::Records& below_;
    Clock& clock_;
};

}  // namespace muster::master_process
