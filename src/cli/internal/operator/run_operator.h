#pragma once

#include "cli/internal/operator/operator_options.h"

namespace muster::cli {

/// Runs the operator of a cluster, with its health and its metrics, until a signal ends it. Returns
/// the exit status.
int run_operator(const OperatorOptions& options);

}  // namespace muster::cli
