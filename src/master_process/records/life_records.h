#pragma once

#include <optional>

#include "base/time/clock.h"
#include "master_process/records/attempt_records.h"
#include "master_process/records/patient_records.h"

namespace muster::master_process {

/// A job's record as one life of a master in its process has it: it waits where the record can't be
/// reached, and with `begins_again` (`--begin-again`) a job that has failed begins again.
///
/// Refers to what it is made over, and to the clock. Thread: theirs.
class LifeRecords {
  public:
    LifeRecords(master::Records& kept, Clock& clock, bool begins_again) : patient_(kept, clock) {
        if (begins_again) attempt_.emplace(patient_);
    }
    LifeRecords(const LifeRecords&) = delete;
    LifeRecords& operator=(const LifeRecords&) = delete;

    master::Records& records() {
        return attempt_ ? static_cast<master::Records&>(*attempt_) : patient_;
    }

  private:
    PatientRecords patient_;
    std::optional<AttemptRecords> attempt_;
};

}  // namespace muster::master_process
