#include "operator/observer/milestones.h"

namespace muster::operators {
namespace {

std::int32_t restarts_of(const jobs::JobStatus& status) {
    std::int32_t sum = 0;
    for (const auto& [type, replicas] : status.replica_statuses)
        sum += replicas.restarts.value_or(0);
    return sum;
}

}  // namespace

std::vector<Reached> milestones(const jobs::JobStatus& before, const jobs::JobStatus& after) {
    std::vector<Reached> reached;
    const auto came = [&](std::string_view condition) {
        return after.is(condition) && !before.is(condition);
    };
    if (came("Created")) reached.push_back({Milestone::kCreated});
    const std::int32_t together =
        after.restart_generation.value_or(0) - before.restart_generation.value_or(0);
    if (together > 0) reached.push_back({Milestone::kRestarted, together, RestartCause::kGroup});
    // A group's restart settles the counts of its replicas, which may fall.
    if (const std::int32_t more = restarts_of(after) - restarts_of(before);
        more > 0 && together <= 0)
        reached.push_back({Milestone::kRestarted, more, RestartCause::kReplica});
    if (came("Running")) reached.push_back({Milestone::kRunning});
    if (came("Succeeded")) reached.push_back({Milestone::kSucceeded});
    if (came("Failed")) reached.push_back({Milestone::kFailed});
    return reached;
}

}  // namespace muster::operators
