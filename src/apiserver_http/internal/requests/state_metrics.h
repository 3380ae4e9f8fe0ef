#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "apiserver/request_handler.h"

namespace muster::apiserver_http {

/// What the server holds now: the number of objects of each resource, and the store's revision.
std::vector<prometheus::MetricFamily> state_metrics(const apiserver::RequestHandler& handler);

}  // namespace muster::apiserver_http
