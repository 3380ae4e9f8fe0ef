#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "apiserver/request_handler.h"

namespace muster::apiserver_http {

/// What the server holds at this moment: the objects of each resource, and how far the store is.
std::vector<prometheus::MetricFamily> state_metrics(const apiserver::RequestHandler& handler);

}  // namespace muster::apiserver_http
