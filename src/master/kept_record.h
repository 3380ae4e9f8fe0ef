#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "master/service/vocabulary.h"

namespace muster::master {

/// The record of a job as its master changes it, and how much of it has been written. Pure.
class KeptRecord {
  public:
    /// The record as it was claimed.
    explicit KeptRecord(JobRecord record)
        : record_(std::move(record)), shared_(std::make_shared<const JobRecord>(record_)) {}

    const JobRecord& now() const { return record_; }
    /// A snapshot for agents that may run the next master. A new object for each version.
    const std::shared_ptr<const JobRecord>& shared() const { return shared_; }

    /// Also drops incidents that no longer count in their budgets.
    void charge(const Incident& incident, const std::array<Budget, kCharges>& budgets,
                WallTime wall);
    void exclude(const std::string& incarnation);
    void end(Verdict verdict);
    void terms(Terms terms);
    /// kGone: the job has ended.
    Result<void> set_section(const std::string& name, std::string bytes);

    /// Rises with each change.
    std::uint64_t version() const { return version_; }
    void written(std::uint64_t version) { written_ = version; }
    std::uint64_t written_version() const { return written_; }

  private:
    void changed();

    JobRecord record_;
    std::shared_ptr<const JobRecord> shared_;
    std::uint64_t version_ = 0;
    std::uint64_t written_ = 0;
};

/// Until when an incident of that time counts, by its budget; nullopt: as long as there is the job.
std::optional<WallTime> counts_until(const Budget& budget, WallTime when);

/// For people: what earlier masters charged to budgets with a limit and still counts, and the last
/// failure of each. Empty: nothing.
std::string charged_before(const JobRecord& record, const std::array<Budget, kCharges>& budgets,
                           WallTime now);

}  // namespace muster::master
