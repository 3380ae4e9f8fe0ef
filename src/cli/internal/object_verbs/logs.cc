#include <fmt/format.h>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/logs/job_logs.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_logs.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr std::string_view kLogsHelp =
    R"(Shows the logs of a run or a job: those of all its replicas merged, in order of time.

Usage: muster logs RUN | JOB | KIND/JOB | pod/NAME [FLAGS]

Each line begins with the name of its pod. The lines of a single container are shown as they are.

Which:
      --rank N               of one process of the job: 0 is the master, or what RANK says in its environment
      --replica TYPE         of one type of replicas, as in Worker
  -c, --container NAME       of one container; default: all but init containers
  -p, --previous             of what ran before the last restart, in the same pod or in the one before it
      --attempt N            of what ran after N restarts of each replica: 0 is its first start. Counted over
                             the pods whose logs are kept

How:
  -f, --follow               continue with new lines, also of new pods and after restarts, until the job has ended
      --tail N               begin with the last N lines of each log
      --since DURATION       only lines that are no older, as in 10m
      --timestamps           each line has its time
      --raw                  a terminal gets all that a program wrote; by default it gets the colours, and neither
                             other sequences nor control characters
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when there is no such log.

Examples:
  muster logs train
  muster logs digits -f
  muster logs pytorchjob/digits --replica Worker --tail 20
  muster logs digits --rank 0 --previous
  muster logs digits --attempt 0
)";

constexpr const char* kLogsVerb = "logs";

int logs(LogsOptions options) {
    const control_plane::Caller caller = control_plane::current_caller();
    const auto found = find_named_run(options.about, options.server, caller);
    if (!found) {
        tell_error(kLogsVerb, found.error());
        return 1;
    }
    if (const std::optional<FoundRun>& run = *found) {
        if (!run->record.on_cluster) return show_run_logs(*run, options, caller);
        options.server = server_of(run->record);
        options.about = job_word_of(run->record);
    }
    ConsoleOptions shown = console_for(false, false, !caller.variable("NO_COLOR").empty());
    shown.raw = options.raw;
    Console console(shown);
    return on_server(kLogsVerb, options.server, [&](Connection& connection) {
        return show_job_logs(connection, options, console, kLogsVerb);
    });
}

class LogsVerb final : public VerbOf<LogsOptions> {
  public:
    LogsVerb() : VerbOf("logs", kLogsHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
        flags.value("--rank", options_.rank);
        flags.value("--replica", options_.replica);
        flags.value("--container,-c", options_.container);
        flags.flag("--follow,-f", options_.follow);
        flags.flag("--previous,-p", options_.previous);
        flags.value("--attempt", options_.attempt);
        flags.flag("--timestamps", options_.timestamps);
        flags.flag("--raw", options_.raw);
        flags.value("--tail", options_.tail);
        flags.value("--since", since_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a run or a job, or a pod as pod/NAME";
        if (options_.rank && *options_.rank < 0)
            return fmt::format("--rank wants a number from 0 on, not {}", *options_.rank);
        if (options_.tail && *options_.tail < 0)
            return fmt::format("--tail wants a number of lines, not {}", *options_.tail);
        if (options_.attempt && *options_.attempt < 0)
            return fmt::format("--attempt wants a number from 0 on, not {}", *options_.attempt);
        if (options_.attempt && options_.previous)
            return "--attempt and --previous do not go together: each says which start is shown";
        if (options_.follow && (options_.previous || options_.attempt))
            return fmt::format("--follow and --{} do not go together: what was before has ended",
                               options_.previous ? "previous" : "attempt");
        return read_duration("--since", since_, "90s or 1h30m", options_.since);
    }
    int run() override { return logs(options_); }

  private:
    std::string since_;
};

}  // namespace

std::unique_ptr<Verb> logs_verb() { return std::make_unique<LogsVerb>(); }

}  // namespace muster::cli
