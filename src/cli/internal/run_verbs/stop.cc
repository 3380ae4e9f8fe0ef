#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "base/time/time_limit.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/run_verbs/named_job.h"
#include "cli/internal/run_verbs/stop_run.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr const char* kStopVerb = "stop";
constexpr std::string_view kStopHelp =
    R"(Ends a run, or suspends a job of a server.

Usage: muster stop RUN | JOB | KIND/JOB [FLAGS]

A run gets SIGTERM: it deletes its jobs, waits for their processes, and ends; what it kept stays. A job of a server is
suspended: its pods go, the job stays, and 'muster rerun JOB' lets it continue.

      --force                kill a run's processes at once
      --timeout DURATION     wait this long for a run to end (default: as long as it takes)
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; a job of that server is meant then

Exit status: 0; 1 when there is no such run or job, or when it did not end in time.

Examples:
  muster stop train-1
  muster stop pytorchjob/digits
)";

struct StopOptions {
    ServerOptions server;
    std::string about;
    bool force = false;
    std::optional<std::chrono::nanoseconds> timeout;
};

int stop(const StopOptions& options) {
    const auto of_run = [&](const FoundRun& run) -> Result<int> {
        if (!run.alive) {
            fmt::print(stderr, "muster stop: {} has ended already\n", run.record.name);
            return 0;
        }
        TRY_VOID(stop_run(run, options.force, options.timeout));
        print(run.record.name + " has ended\n");
        return 0;
    };
    const auto of_job = [&](Connection& connection) -> Task<Result<int>> {
        CO_TRY(const NamedJob job, co_await find_job(connection, options.about));
        if (job.type == kube::types::kPods)
            co_return Error(Code::kInvalid,
                            fmt::format("{} is a pod, which can only be deleted: 'muster rm {}'",
                                        job.shown, options.about));
        CO_TRY_VOID(co_await set_suspended(connection, job, true));
        print(job.shown + " suspended\n");
        co_return 0;
    };
    return on_run_or_server(kStopVerb, options.about, options.server, of_run, of_job);
}

class StopVerb final : public VerbOf<StopOptions> {
  public:
    StopVerb() : VerbOf(kStopVerb, kStopHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
        flags.flag("--force", options_.force);
        flags.value("--timeout", timeout_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a run or a job; 'muster ps' lists them";
        return read_duration("--timeout", timeout_, "90s or 1h30m", options_.timeout);
    }
    int run() override { return stop(options_); }

  private:
    std::string timeout_;
};

}  // namespace

std::unique_ptr<Verb> stop_verb() { return std::make_unique<StopVerb>(); }

}  // namespace muster::cli
