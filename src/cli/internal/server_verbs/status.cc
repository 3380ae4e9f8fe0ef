#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"

namespace muster::cli {

namespace {

constexpr std::string_view kStatusHelp =
    R"(Shows whether 'muster up' is running, and where.

Usage: muster status [FLAGS]

      --state DIR            its state directory (default: ~/.muster)

Exit status: 0 when it is running, 3 when it is not, 1 when it is running but can't store anything, with the reason
(such as a full disk).
)";

constexpr Duration kStatusPatience = std::chrono::seconds(10);
constexpr int kOk = 200;

/// A running process may still be unable to store anything.
Task<Result<int>> ask_whether_ready(Connection& server) {
    auto answer = co_await server.ask("/readyz", kStatusPatience);
    if (answer && answer->status == kOk) co_return 0;
    std::fflush(stdout);
    fmt::print(stderr, "muster status: it is not ready: {}\n",
               answer ? answer->body : answer.error().message());
    co_return 1;
}

int status(const StatusOptions& options) {
    const std::filesystem::path home =
        control_plane::state_path(options.state_dir, control_plane::current_caller());
    auto daemon = control_plane::find_daemon(home);
    if (!daemon) {
        fmt::print(stderr, "muster status: {}\n", daemon.error().message());
        return 1;
    }
    if (!*daemon) {
        // A lock that can't be read changes nothing that is said below.
        const auto supervisor =
            control_plane::find_daemon(home, control_plane::StateLock::kSupervisor);
        if (supervisor && *supervisor) {
            fmt::print("muster is not up in {}; its supervisor, process {}, starts it again\n",
                       home.string(), (**supervisor).pid);
            return 3;
        }
        fmt::print("muster is not up in {}; 'muster up' starts it\n", home.string());
        return 3;
    }
    const control_plane::Daemon& found = **daemon;
    if (found.address.empty()) {
        fmt::print("muster is starting: process {}, state in {}\n", found.pid, home.string());
        return 0;
    }
    fmt::print("muster is up at {}: process {}, state in {}\n", found.address, found.pid,
               home.string());
    const ServerOptions server{
        .kubeconfig = home / "kubeconfig", .context = "muster", .namespace_ = {}};
    return on_server("status", server, ask_whether_ready);
}

class StatusVerb final : public VerbOf<StatusOptions> {
  public:
    StatusVerb() : VerbOf("status", kStatusHelp) {}

    void declare(Flags& flags) override { declare_state_flag(flags, options_.state_dir); }
    int run() override { return status(options_); }
};

}  // namespace

std::unique_ptr<Verb> status_verb() { return std::make_unique<StatusVerb>(); }

}  // namespace muster::cli
