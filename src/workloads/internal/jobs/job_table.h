#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/informer.h"

namespace muster::workloads {

/// What is kept of a batch Job.
struct JobRecord {
    kube::NamespacedName name;
    std::string uid;
    std::string cron_job;  ///< the name of the CronJob that controls it; empty: none does
    std::string cron_job_uid;
    std::string ended;  ///< "Complete", "Failed"; empty: it has not
    std::optional<WallTime> created;
    std::optional<WallTime> started;
    std::optional<WallTime> completed;
    bool deleting = false;
};

std::optional<JobRecord> job_record(const json::value& job);

/// All batch Jobs, kept current by a watch, and by the CronJob that controls them. Thread: the loop
/// of the group.
class JobTable {
  public:
    JobTable(kube::Client& client, Clock& clock, Rng& rng);

    void on_change(kube::Informer<JobRecord>::Handler handler) {
        informer_.on_change(std::move(handler));
    }
    void start(TaskGroup& tasks) { informer_.start(tasks); }
    Task<void> wait_synced() { return informer_.wait_synced(); }

    /// Those of a CronJob of this name, of any uid.
    std::vector<JobRecord> of_cron_job(const kube::NamespacedName& name) const;

  private:
    void changed(const JobRecord* before, const JobRecord* after);

    kube::Informer<JobRecord> informer_;
    std::unordered_map<std::string, std::map<std::string, JobRecord>> by_cron_job_;
};

}  // namespace muster::workloads
