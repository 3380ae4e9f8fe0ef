#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/internal/push/job_progress.h"

namespace muster::cli {

/// Names of labels and their values, in order. Empty values are left out.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Where a Pushgateway has the group of metrics with these labels, of which "job" comes first:
/// "/metrics/job/muster_step/run_id/0a1b2c". Pure.
std::string group_path(const MetricLabels& group);

/// The metrics of a group in Prometheus' text format, with one more that has `about` as its labels,
/// by which a dashboard finds the job's pods. Pure.
std::string metrics_text(const JobMetrics& metrics, const MetricLabels& about);

}  // namespace muster::cli
