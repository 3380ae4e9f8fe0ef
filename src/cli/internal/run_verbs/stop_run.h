#pragma once

#include <chrono>
#include <optional>

#include "base/result.h"
#include "cli/internal/connect/connection.h"
#include "cli/internal/record/run_choice.h"
#include "cli/internal/run_verbs/named_job.h"

namespace muster::cli {

/// SIGTERM to a run that lives, and a second one with `force`; returns when its process is gone. Blocks.
/// kTimeout: it still lives.
Result<void> stop_run(const FoundRun& run, bool force,
                      std::optional<std::chrono::nanoseconds> timeout);

/// spec.runPolicy.suspend of a job.
Task<Result<void>> set_suspended(Connection& connection, NamedJob job, bool suspended);

}  // namespace muster::cli
