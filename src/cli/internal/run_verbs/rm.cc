#include <fmt/format.h>

#include <cstdio>

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

constexpr const char* kRmVerb = "rm";
constexpr std::string_view kRmHelp =
    R"(Removes what was kept of runs, or deletes jobs of a server.

Usage: muster rm RUN | JOB | KIND/JOB... [FLAGS]

A run that still lives is not removed without --force. A job's name means its newest run.

      --force                stop a run first
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; jobs of that server are meant then

Exit status: 0; 1 when something could not be removed.

Examples:
  muster rm train-1 train-2
  muster ps -aq | xargs -r muster rm
)";

struct RmOptions {
    ServerOptions server;
    std::vector<std::string> about;
    bool force = false;
};

Result<int> remove_one(const FoundRun& run, bool force) {
    if (run.alive && !force)
        return Error(
            Code::kInvalid,
            fmt::format("{0} runs: 'muster stop {0}' ends it, --force does both", run.record.name));
    if (run.alive) TRY_VOID(stop_run(run, false, std::nullopt));
    TRY_VOID(remove_run(run.folder));
    print(run.record.name + " removed\n");
    return 0;
}

Task<Result<int>> delete_job(Connection& connection, std::string word) {
    CO_TRY(const NamedJob job, co_await find_job(connection, word));
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kBackground;
    CO_TRY_VOID(co_await connection.client().remove(job.type, job.namespace_, job.name, options));
    print(job.shown + " deleted\n");
    co_return 0;
}

int remove_all(const RmOptions& options) {
    int status = 0;
    for (const std::string& word : options.about) {
        const int removed = on_run_or_server(
            kRmVerb, word, options.server,
            [&](const FoundRun& run) { return remove_one(run, options.force); },
            [&](Connection& connection) { return delete_job(connection, word); });
        status = std::max(status, removed);
    }
    return status;
}

class RmVerb final : public VerbOf<RmOptions> {
  public:
    RmVerb() : VerbOf(kRmVerb, kRmHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.words("about", options_.about);
        flags.flag("--force", options_.force);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name runs or jobs; 'muster ps -a' lists them";
        return std::nullopt;
    }
    int run() override { return remove_all(options_); }
};

}  // namespace

std::unique_ptr<Verb> rm_verb() { return std::make_unique<RmVerb>(); }

}  // namespace muster::cli
