#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

/// minReplicas and maxReplicas of an elastic policy: each stands in for the other where one is not
/// set, and the number of replicas of `type` for both.
void set_range_defaults(const Job& job, std::string_view type, std::optional<std::int32_t>& fewest,
                        std::optional<std::int32_t>& most);

/// At most one cause, of spec.elasticPolicy.minReplicas.
void check_range(std::optional<std::int32_t> fewest, std::optional<std::int32_t> most,
                 std::vector<Cause>& causes);
/// The same in CEL.
AdmissionRule range_admission_rule();

}  // namespace muster::jobs
