#include "jobs/internal/elastic_range.h"

#include <fmt/format.h>

#include <string>

#include "jobs/internal/text.h"

namespace muster::jobs {

void set_range_defaults(const Job& job, std::string_view type, std::optional<std::int32_t>& fewest,
                        std::optional<std::int32_t>& most) {
    const ReplicaSpec* spec = job.replica(std::string(type));
    if (!fewest && !most && spec != nullptr) fewest = spec->replicas;
    if (!fewest) fewest = most;
    if (!most) most = fewest;
}

void check_range(std::optional<std::int32_t> fewest, std::optional<std::int32_t> most,
                 std::vector<Cause>& causes) {
    if (fewest && most && *fewest > *most)
        causes.push_back(invalid(
            "spec.elasticPolicy.minReplicas",
            fmt::format("must not be above maxReplicas: {} is more than {}", *fewest, *most)));
}

AdmissionRule range_admission_rule() {
    return {.expression =
                "!object.spec.?elasticPolicy.?minReplicas.hasValue() || "
                "!object.spec.?elasticPolicy.?maxReplicas.hasValue() || "
                "object.spec.elasticPolicy.minReplicas <= "
                "object.spec.elasticPolicy.maxReplicas",
            .message = "spec.elasticPolicy.minReplicas: must not be above maxReplicas"};
}

}  // namespace muster::jobs
