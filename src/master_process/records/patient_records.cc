#include "master_process/records/patient_records.h"

#include <algorithm>
#include <string>

#include "base/log.h"

namespace muster::master_process {
namespace {

/// Not longer: a job whose worker has died waits for its master.
constexpr Duration kFirstRetry = std::chrono::milliseconds(100);
constexpr Duration kLongestRetry = std::chrono::seconds(2);
constexpr Duration kTellAgain = std::chrono::minutes(1);

}  // namespace

Task<Result<job_protocol::JobRecord>> PatientRecords::claim() {
    Duration pause = kFirstRetry;
    std::string said;
    Instant say = clock_.now();
    for (;;) {
        auto claimed = co_await below_.claim();
        if (claimed) co_return claimed;
        const std::string& trouble = claimed.error().message();
        if (trouble != said || clock_.now() >= say) {
            log::warning("the job's record can't be had; running workers continue meanwhile",
                         {{"error", trouble}});
            said = trouble;
            say = clock_.now() + kTellAgain;
        }
        co_await clock_.sleep_for(pause);
        pause = std::min(2 * pause, kLongestRetry);
    }
}

}  // namespace muster::master_process
