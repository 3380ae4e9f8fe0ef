#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/time/real_clock.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/state_dir.h"
#include "muster_run/node/stale_files.h"
#include "runtime/stale_state.h"

namespace muster::cli {

namespace {

constexpr std::string_view kCleanHelp =
    R"(Removes what killed runs left behind: state directories and directories of muster-run below TMPDIR, and cgroups.

Usage: muster clean

A run cleans up after itself; when muster is killed, its cleanup process does. There is something to remove only when
both were killed or the machine lost power. Runs in progress are not touched, nor are a 'muster up' and its pods,
which may run on without it, nor what only has a similar name.

An agent (muster-run) that is killed leaves the record of its job, if that has other nodes, for the agent that takes its
place. It is removed 10 minutes later, and error files that a report has named after a week.

Exit status: 0, or 1 when something could not be removed.
)";

int clean() {
    const std::string variable = control_plane::current_caller().variable("TMPDIR");
    const std::string temporary = variable.empty() ? "/tmp" : variable;
    int status = 0;
    bool found = false;
    const auto tell = [&](const Result<std::vector<std::string>>& removed) {
        if (!removed) {
            fmt::print(stderr, "muster: {}\n", removed.error().message());
            status = 1;
            return;
        }
        for (const std::string& what : *removed) fmt::print("removed {}\n", what);
        found = found || !removed->empty();
    };
    tell(runtime::remove_stale_state({.parent = temporary,
                                      .prefix = control_plane::kStateDirPrefix,
                                      .marker = control_plane::kStateDirMarker}));
    tell(run::remove_stale_files(temporary, RealClock().wall_now()));
    if (!found && status == 0) fmt::print("nothing to remove\n");
    return status;
}

class CleanVerb final : public Verb {
  public:
    CleanVerb() : Verb("clean", kCleanHelp) {}

    int run() override { return clean(); }
};

}  // namespace

std::unique_ptr<Verb> clean_verb() { return std::make_unique<CleanVerb>(); }

}  // namespace muster::cli
