#include "cli/verbs.h"

namespace muster::cli {
int run(const RunOptions&) { return 0; }
}  // namespace muster::cli
