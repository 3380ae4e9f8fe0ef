#include "operator/internal/planning/pod_gate.h"

#include <fmt/format.h>

#include "operator/internal/integrations/volcano.h"

namespace muster::operators {
namespace {

bool is_admitted(const PartnerSeen& group) {
    if (group.wish.type != PartnerType::kVolcano) return true;
    return group.object && !group.object->deleting && volcano::admits(group.object->phase);
}

}  // namespace

std::optional<Hold> hold_of(const JobRecord& job, const PartnersSeen& partners) {
    for (const PartnerSeen& seen : partners.objects) {
        if (!is_pod_group(seen.wish.type) || !seen.wish.wanted) continue;
        const std::string& kind = job.kind->resource.kind;
        if (seen.knowledge == Knowledge::kRefused)
            return Hold{Hold::Why::kMissing,
                        fmt::format("{} {} needs a PodGroup, and {}; its pods are made when that "
                                    "has changed",
                                    kind, job.name, seen.problem)};
        if (seen.knowledge == Knowledge::kNone) return Hold{};
        if (!is_admitted(seen))
            return Hold{Hold::Why::kQueued,
                        fmt::format("the pods of {} {} are made when Volcano admits its PodGroup "
                                    "{}; what that waits for, its conditions say",
                                    kind, job.name, job.name)};
    }
    if (!partners.priorities_known) return Hold{};
    return std::nullopt;
}

}  // namespace muster::operators
