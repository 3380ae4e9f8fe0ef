#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/state_dir.h"
#include "runtime/stale_state.h"

namespace muster::cli {

namespace {

constexpr std::string_view kCleanHelp =
    R"(Removes what killed runs left behind: state directories below TMPDIR, and cgroups.

Usage: muster clean

A run cleans up after itself; when muster is killed, its cleanup process does. There is something to remove only when
both were killed or the machine lost power. Runs in progress are not touched, nor are a 'muster up' and its pods,
which may run on without it, nor what only has a similar name.

Exit status: 0, or 1 when something could not be removed.
)";

int clean() {
    const std::string temporary = control_plane::current_caller().variable("TMPDIR");
    auto removed = runtime::remove_stale_state({.parent = temporary.empty() ? "/tmp" : temporary,
                                                .prefix = control_plane::kStateDirPrefix,
                                                .marker = control_plane::kStateDirMarker});
    if (!removed) {
        fmt::print(stderr, "muster: {}\n", removed.error().message());
        return 1;
    }
    for (const std::string& what : *removed) fmt::print("removed {}\n", what);
    if (removed->empty()) fmt::print("nothing to remove\n");
    return 0;
}

class CleanVerb final : public Verb {
  public:
    CleanVerb() : Verb("clean", kCleanHelp) {}

    int run() override { return clean(); }
};

}  // namespace

std::unique_ptr<Verb> clean_verb() { return std::make_unique<CleanVerb>(); }

}  // namespace muster::cli
