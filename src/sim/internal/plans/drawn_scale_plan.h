#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "kube/values/json.h"

namespace muster::sim {

/// A worker's pod, as a user sees it.
struct WorkerPod {
    std::string name;
    int id = 0;
};

/// The spec of a ScalePlan for a job with these workers, oldest first: another number of them, one
/// more, some that leave or move, spares, a node to leave out, memory of single pods, and now and then
/// what no operator can do.
json::object draw_scale_plan(const std::string& job, const std::vector<WorkerPod>& workers,
                             Rng& rng);

}  // namespace muster::sim
