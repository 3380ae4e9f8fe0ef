#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "apiserver/internal/server_state.h"

namespace muster::apiserver {

/// What the server holds at this moment: the objects of each resource, and how far the store is.
std::vector<prometheus::MetricFamily> state_metrics(const ServerState& state);

}  // namespace muster::apiserver
