#include "master_process/records/attempt_records.h"

#include "base/log.h"

namespace muster::master_process {

Task<Result<job_protocol::JobRecord>> AttemptRecords::claim() {
    CO_TRY(job_protocol::JobRecord record, co_await below_.claim());
    if (!record.end || record.end->kind != job_protocol::Verdict::Kind::kFailed) co_return record;
    log::info("the job has failed and begins again, with whole budgets",
              {{"why", record.end->text}});
    co_return job_protocol::JobRecord{.epoch = record.epoch};
}

}  // namespace muster::master_process
