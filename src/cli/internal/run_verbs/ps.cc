#include <fmt/format.h>

#include <cstdio>

#include "base/time/real_clock.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_table.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "kube/objects/resource_type.h"

namespace muster::cli {

namespace {

constexpr const char* kPsVerb = "ps";
constexpr std::string_view kPsHelp =
    R"(Lists runs of this machine, and jobs of 'muster up' and of clusters.

Usage: muster ps [FLAGS]

Without a flag: the runs that live, and the jobs of this user's 'muster up' that have not ended.

  -a, --all                  those that have ended, too
  -q, --quiet                only the names of runs
  -o, --output json          for programs
      --context NAME, --kubeconfig FILE, -n, --namespace NS
                             the jobs of that server, in its namespace, in place of those of 'muster up'

A run is kept until there are 100 of them, or 4 GiB. A run that is "lost" was killed together with the muster that ran it.
The names are for 'muster logs', 'describe', 'why', 'attach', 'stop', 'rerun', 'rm' and 'diff'.

Exit status: 0; 1 when the server could not be asked.

Examples:
  muster ps -a
  muster ps --context prod -n team-a
)";

struct PsOptions {
    ServerOptions server;
    bool all = false;
    bool quiet = false;
    OutputFormat output = OutputFormat::kNone;
};

bool names_a_server(const ServerOptions& server) {
    return !server.context.empty() || !server.kubeconfig.empty() || !server.namespace_.empty();
}

/// The jobs of all kinds that the server has.
Task<Result<std::vector<RunRow>>> jobs_of(Connection& connection, bool all_namespaces,
                                          std::string where) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const std::vector<const ApiResource*> kinds, kinds_of_bare_names(catalog));
    std::vector<RunRow> rows;
    for (const ApiResource* kind : kinds) {
        if (kind->type == kube::types::kPods) continue;
        kube::ListOptions options;
        if (!all_namespaces) options.namespace_ = connection.default_namespace();
        CO_TRY(const kube::ListResult list, co_await connection.client().list(kind->type, options));
        for (const kube::ObjectPtr& job : list.items)
            if (auto row = row_of(*job, where)) rows.push_back(*std::move(row));
    }
    co_return rows;
}

int list_all(const PsOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    std::vector<RunRow> rows;
    int status = 0;
    const Result<std::vector<FoundRun>> runs = list_runs(runs_directory(caller));
    if (runs) {
        for (const FoundRun& run : *runs) rows.push_back(row_of(run));
    } else {
        tell_error(kPsVerb, runs.error());
        status = 1;
    }
    const bool server_named = names_a_server(options.server);
    if (server_named || up_is_here(caller)) {
        const ServerOptions server = server_named ? options.server : options_of_up(caller);
        const std::string where = !server_named                    ? "muster up"
                                  : options.server.context.empty() ? "a cluster"
                                                                   : "context " + server.context;
        const int asked =
            on_server(kPsVerb, server, [&](Connection& connection) -> Task<Result<int>> {
                CO_TRY(std::vector<RunRow> jobs,
                       co_await jobs_of(connection, !server_named, where));
                std::ranges::move(jobs, std::back_inserter(rows));
                co_return 0;
            });
        status = std::max(status, asked);
    }
    if (!options.all) std::erase_if(rows, [](const RunRow& row) { return !row.alive; });
    sort_rows(rows);
    if (options.output != OutputFormat::kNone) {
        print_exact(rows_json(rows));
    } else if (options.quiet) {
        for (const RunRow& row : rows)
            if (row.is_run) print(row.name + "\n");
    } else if (rows.empty()) {
        fmt::print(stderr, "Nothing runs{}.\n",
                   options.all ? ", and nothing ran" : "; -a lists what has ended");
    } else {
        print(TableWriter({}).write(run_table(rows, RealClock().wall_now())));
    }
    return status;
}

class PsVerb final : public VerbOf<PsOptions> {
  public:
    PsVerb() : VerbOf(kPsVerb, kPsHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.flag("--all,-a", options_.all);
        flags.flag("--quiet,-q", options_.quiet);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (!output_.empty() && output_ != "json")
            return fmt::format("--output wants json, not \"{}\"", output_);
        if (!output_.empty()) options_.output = OutputFormat::kJson;
        return std::nullopt;
    }
    int run() override { return list_all(options_); }

  private:
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> ps_verb() { return std::make_unique<PsVerb>(); }

}  // namespace muster::cli
