#include <fmt/format.h>

#include <cstdio>

#include "cli/caller.h"
#include "cli/internal/up/state_home.h"
#include "cli/verbs.h"

namespace muster::cli {

int status(const StatusOptions& options) {
    const std::filesystem::path home = state_path(options.state_dir, current_caller());
    auto daemon = find_daemon(home);
    if (!daemon) {
        fmt::print(stderr, "muster status: {}\n", daemon.error().message());
        return 1;
    }
    if (!*daemon) {
        fmt::print("muster is not up in {}; 'muster up' starts it\n", home.string());
        return 3;
    }
    const Daemon& found = **daemon;
    if (found.address.empty()) {
        fmt::print("muster starts: process {}, state in {}\n", found.pid, home.string());
        return 0;
    }
    fmt::print("muster is up at {}: process {}, state in {}\n", found.address, found.pid,
               home.string());
    return 0;
}

}  // namespace muster::cli
