#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"

namespace muster::jobs {

/// Those that place the pods of a job together or not at all.
enum class GangScheduler : std::uint8_t { kNone, kVolcano, kSchedulerPlugins, kYunikorn };

struct GangChoice {
    GangScheduler scheduler = GangScheduler::kNone;
    std::string name;  ///< as `schedulerName` of a pod has it

    friend bool operator==(const GangChoice&, const GangChoice&) = default;
};

/// Who places this job: whom its platform names, else, on a cluster, the first of its pod templates
/// that names one of them. (training-operator's --gang-scheduler-name; it does not look at
/// templates.)
GangChoice gang_scheduler_of(const Job& job);

/// "Volcano", for messages.
std::string_view title(GangScheduler scheduler);

}  // namespace muster::jobs
