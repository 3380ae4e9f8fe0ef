#include <cstdio>

#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

int version() {
    std::puts("muster " MUSTER_VERSION);
    return 0;
}

}  // namespace muster::cli
