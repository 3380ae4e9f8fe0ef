#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/verbs/verbs.h"
#include "control_plane/caller.h"
#include "control_plane/state_dir.h"
#include "runtime/leftovers.h"

namespace muster::cli {

int clean() {
    const std::string temporary = control_plane::current_caller().variable("TMPDIR");
    auto removed = runtime::remove_leftovers(temporary.empty() ? "/tmp" : temporary,
                                             control_plane::kStateDirPrefix);
    if (!removed) {
        fmt::print(stderr, "muster: {}\n", removed.error().message());
        return 1;
    }
    for (const std::string& what : *removed) fmt::print("removed {}\n", what);
    if (removed->empty()) fmt::print("nothing to remove\n");
    return 0;
}

}  // namespace muster::cli
