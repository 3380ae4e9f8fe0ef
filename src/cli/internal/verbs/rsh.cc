#include "cli/caller.h"
#include "cli/internal/verbs/verbs.h"
#include "rsh/run.h"

namespace muster::cli {

int rsh(const RshOptions& options) {
    return rsh::run(options, current_caller().environment, rsh::resolve_by_system);
}

}  // namespace muster::cli
