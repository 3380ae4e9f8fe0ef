#include "operator/internal/planning/pod_gate.h"

#include <fmt/format.h>

#include "operator/internal/integrations/integrations.h"
#include "operator/internal/integrations/volcano.h"

namespace muster::operators {
namespace {

bool is_admitted(const IntegrationObject& group) {
    if (group.desired.type != IntegrationType::kVolcano) return true;
    return group.object && !group.object->deleting && volcano::admits(group.object->phase);
}

}  // namespace

std::optional<PodGate> pod_gate(const JobRecord& job, const IntegrationState& integrations) {
    for (const IntegrationObject& seen : integrations.objects) {
        if (!is_pod_group(seen.desired.type) || !seen.desired.wanted) continue;
        const std::string& kind = job.kind->resource.kind;
        if (seen.knowledge == Knowledge::kRefused)
            return PodGate{
                PodGate::Reason::kMissing,
                fmt::format("{} {} needs a PodGroup, and {}; its pods are made when that "
                            "has changed",
                            kind, job.name, seen.problem)};
        if (seen.knowledge == Knowledge::kNone) return PodGate{};
        if (!is_admitted(seen))
            return PodGate{
                PodGate::Reason::kQueued,
                fmt::format("the pods of {} {} are made when Volcano admits its PodGroup "
                            "{}; its conditions say what it waits for",
                            kind, job.name, job.name)};
    }
    if (!integrations.priorities_known) return PodGate{};
    return std::nullopt;
}

}  // namespace muster::operators
