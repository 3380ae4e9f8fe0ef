#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/schedule/time_zone.h"
#include "workloads/internal/jobs/job_table.h"

namespace muster::workloads {

struct CronJobEvent {
    bool warning = false;
    std::string reason;
    std::string message;
};

/// What is to be done about one CronJob now, in the order of the fields.
struct CronJobPlan {
    std::vector<JobRecord> remove;  ///< Jobs: what is too old, or replaced
    std::optional<WallTime> make;   ///< a Job for this time
    /// The status without the Job that is to be made.
    json::object status;
    std::vector<CronJobEvent> events;
    std::optional<WallTime> again;
};

/// A CronJob with what is needed to decide about it.
struct CronJobFacts {
    const json::object& cron_job;
    /// Those that it controls.
    const std::vector<JobRecord>& jobs;
    /// Uids in `status.active` of Jobs that are gone.
    const std::set<std::string>& missing;
    /// Of spec.timeZone, or of this machine if there is none; nullopt: it is not known.
    std::optional<kube::TimeZone> zone;
};

/// Pure.
CronJobPlan plan_cron_job(const CronJobFacts& facts, WallTime now);

/// "<cronjob>-<minutes since 1970>": one Job for each time, whatever happens.
std::string scheduled_job_name(std::string_view cron_job, WallTime scheduled);
json::object scheduled_job(const json::object& cron_job, WallTime scheduled,
                           const kube::TimeZone& zone);
/// Writes a Job that was made into the status of its CronJob.
void note_made(json::object& status, const json::object& job, WallTime scheduled);

}  // namespace muster::workloads
