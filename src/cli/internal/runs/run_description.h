#pragma once

#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "cli/internal/record/run_choice.h"

namespace muster::cli {

/// A run and, as they were last seen, its jobs with their pods and events. Reads its folder.
Result<std::string> describe_run(const FoundRun& run, WallTime now);

}  // namespace muster::cli
