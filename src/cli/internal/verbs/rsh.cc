#include "cli/internal/verbs/verbs.h"
#include "control_plane/caller.h"
#include "rsh/run.h"

namespace muster::cli {

int rsh(const RshOptions& options) {
    return rsh::run(options, control_plane::current_caller().environment, rsh::resolve_by_system);
}

}  // namespace muster::cli
