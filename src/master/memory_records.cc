#include "master/memory_records.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::master {
namespace {

Error away() { return Error(Code::kUnavailable, "the job's record can't be reached"); }

}  // namespace

Task<Result<JobRecord>> MemoryRecords::claim_from(std::uint64_t first,
                                                  std::shared_ptr<const JobRecord> known) {
    co_await clock_.sleep_for(time_);
    const Fault fault = faults_ ? faults_() : Fault::kNone;
    if (fault == Fault::kFails) co_return away();
    if (known && known->epoch > kept_.epoch) kept_ = *known;
    kept_.epoch = kept_.epoch == 0 ? first : std::max(kept_.epoch, first) + 1;
    if (fault == Fault::kLost) co_return away();
    co_return kept_;
}

Task<Result<void>> MemoryRecords::write(JobRecord record) {
    co_await clock_.sleep_for(time_);
    const Fault fault = faults_ ? faults_() : Fault::kNone;
    if (fault == Fault::kFails) co_return away();
    if (record.epoch != kept_.epoch)
        co_return Error(Code::kConflict, fmt::format("epoch {} has ended: epoch {} was claimed",
                                                     record.epoch, kept_.epoch));
    kept_ = std::move(record);
    if (fault == Fault::kLost) co_return away();
    co_return Result<void>();
}

}  // namespace muster::master
