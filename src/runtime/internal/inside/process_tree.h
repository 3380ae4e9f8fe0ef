#pragma once

namespace muster::runtime {

/// Kills all descendants of the calling process, which must be a subreaper, and reaps them.
void kill_descendants();

}  // namespace muster::runtime
