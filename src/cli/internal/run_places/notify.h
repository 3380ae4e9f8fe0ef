#pragma once

#include <string>

#include "base/result.h"
#include "cli/internal/record/run_record.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// Tells of a run's end: posts JSON to a URL, or starts a command of the shell with the JSON as its
/// input. Blocks, for half a minute at most. A URL that does not take it is tried three times.
Result<void> notify(const std::string& to, const RunRecord& record,
                    const control_plane::Caller& caller);

}  // namespace muster::cli
