#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"

namespace muster::jobs {

/// Schedulers that place the pods of a job together or not at all.
enum class GangScheduler : std::uint8_t { kNone, kVolcano, kSchedulerPlugins, kYunikorn };

struct GangChoice {
    GangScheduler scheduler = GangScheduler::kNone;
    std::string name;  ///< as in `schedulerName` of a pod

    friend bool operator==(const GangChoice&, const GangChoice&) = default;
};

/// The gang scheduler of this job: the one that its platform names, else, on a cluster, the first
/// of its pod templates that names one. (training-operator's --gang-scheduler-name; it does not
/// look at templates.)
GangChoice gang_scheduler_of(const Job& job);

/// "Volcano", for messages.
std::string_view title(GangScheduler scheduler);

}  // namespace muster::jobs
