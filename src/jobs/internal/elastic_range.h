#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

/// minReplicas and maxReplicas of an elastic policy: if one is not set, the other stands in for it;
/// if neither is, the number of replicas of `type` does.
void set_range_defaults(const Job& job, std::string_view type, std::optional<std::int32_t>& fewest,
                        std::optional<std::int32_t>& most);

/// At most one cause, about spec.elasticPolicy.minReplicas.
void check_range(std::optional<std::int32_t> fewest, std::optional<std::int32_t> most,
                 std::vector<Cause>& causes);
/// The same in CEL.
AdmissionRule range_admission_rule();

}  // namespace muster::jobs
