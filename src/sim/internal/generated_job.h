#pragma once

#include <string>

#include "base/rng.h"
#include "kube/values/json.h"
#include "sim/scenario.h"

namespace muster::sim {

/// A job drawn from what `jobs` allows, one that is accepted.
json::object generate_job(const GeneratedJobs& jobs, const std::string& name, Rng& rng);

/// Uniform between both ends, whole milliseconds.
Duration draw(const DurationRange& range, Rng& rng);
int draw(const std::pair<int, int>& range, Rng& rng);

}  // namespace muster::sim
