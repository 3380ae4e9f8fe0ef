#include "jobs/gang_scheduler.h"

#include "base/lower_case.h"
#include "jobs/kind.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kVolcanoName = "volcano";
constexpr std::string_view kYunikornName = "yunikorn";
/// As the chart of scheduler-plugins names it.
constexpr std::string_view kPluginsName = "scheduler-plugins-scheduler";

GangScheduler known_by(std::string_view name) {
    if (name == kVolcanoName) return GangScheduler::kVolcano;
    if (name == kYunikornName) return GangScheduler::kYunikorn;
    if (name == kPluginsName) return GangScheduler::kSchedulerPlugins;
    return GangScheduler::kNone;
}

}  // namespace

GangChoice gang_scheduler_of(const Job& job) {
    const std::string& asked = job.platform.gang_scheduler;
    if (!asked.empty()) {
        if (lower_case(asked) == kVolcanoName)
            return {GangScheduler::kVolcano, std::string(kVolcanoName)};
        const GangScheduler known = known_by(asked);
        return {known == GangScheduler::kNone ? GangScheduler::kSchedulerPlugins : known, asked};
    }
    if (!job.platform.cluster) return {};
    for (const ReplicaType& type : job.kind->replica_types) {
        const ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        const std::string& name = spec->template_.spec.scheduler_name;
        if (const GangScheduler known = known_by(name); known != GangScheduler::kNone)
            return {known, name};
    }
    return {};
}

std::string_view title(GangScheduler scheduler) {
    switch (scheduler) {
        case GangScheduler::kNone:
            return "none";
        case GangScheduler::kVolcano:
            return "Volcano";
        case GangScheduler::kSchedulerPlugins:
            return "scheduler-plugins";
        case GangScheduler::kYunikorn:
            return "YuniKorn";
    }
    return "";
}

}  // namespace muster::jobs
