#pragma once

#include "master/records.h"

namespace muster::master_process {

/// The record of the current attempt at a job, which begins again when one has failed: a claim that
/// finds such an end finds nothing else but the epoch. What it found stays until the next write.
///
/// Refers to what is below it. Thread: its.
class AttemptRecords final : public master::Records {
  public:
    explicit AttemptRecords(master::Records& below) : below_(below) {}

    /// The errors of those below.
    Task<Result<job_protocol::JobRecord>> claim() override;
    Task<Result<void>> write(job_protocol::JobRecord record) override {
        return below_.write(std::move(record));
    }

  private:
    master::Records& below_;
};

}  // namespace muster::master_process
