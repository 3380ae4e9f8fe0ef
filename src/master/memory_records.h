#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/time/clock.h"
#include "master/records.h"

namespace muster::master {

/// A job's record in memory, for tests and simulation. Several masters may share one.
class MemoryRecords final : public Records {
  public:
    /// What goes wrong with the next claim or write.
    enum class Fault {
        kNone,
        kFails,  ///< it is not done
        kLost,   ///< it is done, but an error is returned
    };
    using Faults = std::function<Fault()>;

    MemoryRecords(Clock& clock, Duration time) : clock_(clock), time_(time) {}

    Task<Result<JobRecord>> claim() override { return claim_from(1, {}); }
    /// As FileRecords with these does it.
    Task<Result<JobRecord>> claim_from(std::uint64_t first, std::shared_ptr<const JobRecord> known);
    Task<Result<void>> write(JobRecord record) override;

    const JobRecord& kept() const { return kept_; }
    void set_faults(Faults faults) { faults_ = std::move(faults); }
    void set_time(Duration time) { time_ = time; }

  private:
    Clock& clock_;
    Duration time_;  ///< of each call
    Faults faults_;
    JobRecord kept_;
};

}  // namespace muster::master
