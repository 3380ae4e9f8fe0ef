#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/time/real_clock.h"
#include "base/visible_text.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/migrate/difference.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json_access.h"
#include "kube/values/namespaced_name.h"

namespace muster::cli {

namespace {

constexpr std::string_view kMigrateHelp =
    R"(Reads the jobs of a cluster and says which of them would behave differently if this operator replaced
Kubeflow's training-operator or mpi-operator. Nothing is changed.

Usage: muster migrate check [FLAGS]

"at once" is what happens as soon as the operators change, such as a deadline that has long passed; "later" is
what happens if something else happens first. docs/migrate.md says how to switch while jobs run.

  -A, --all-namespaces       of every namespace
  -n, --namespace NS         default: the context's, else "default"
      --context NAME         of the kubeconfig; default: its current one
      --kubeconfig FILE      as in 'muster get'

Exit status: 0; 3 when a job would notice the change at once; 1 when the server can't be reached; 2 for bad flags.
)";

/// The subcommand of `muster migrate`: so far only `check`.
struct MigrateOptions {
    ServerOptions server;
    std::string what;
    bool all_namespaces = false;
};

struct Judged {
    std::string kind;
    std::string name;  ///< "namespace/name"
    std::vector<Difference> differences;
};

bool runs(const json::value& batch_job) {
    const json::object& job = batch_job.as_object();
    const json::object* spec = kube::object_at(job, "spec");
    if (const json::value* suspend = spec == nullptr ? nullptr : spec->if_contains("suspend"))
        if (*suspend == true) return false;
    const json::object* status = kube::object_at(job, "status");
    const json::value* conditions = status == nullptr ? nullptr : status->if_contains("conditions");
    if (conditions == nullptr || !conditions->is_array()) return true;
    return std::ranges::none_of(conditions->get_array(), [](const json::value& condition) {
        const std::string_view type = kube::string_at(condition.as_object(), "type");
        return (type == "Complete" || type == "Failed") &&
               kube::string_at(condition.as_object(), "status") == "True";
    });
}

/// The Jobs that run or may begin to. Nothing if we may not list them.
Task<std::set<kube::NamespacedName>> running_batch_jobs(Connection& connection,
                                                        const std::string& ns) {
    std::set<kube::NamespacedName> running;
    kube::ListOptions options;
    options.namespace_ = ns;
    const auto listed = co_await connection.client().list(kube::types::kBatchJobs, options);
    if (!listed) co_return running;
    for (const kube::ObjectPtr& job : listed->items)
        if (runs(*job)) running.insert(kube::namespaced_name_of(job->as_object()));
    co_return running;
}

Task<Result<std::vector<Judged>>> judge_all(Connection& connection, const MigrateOptions& options,
                                            std::size_t& looked_at) {
    const std::string ns = options.all_namespaces ? "" : connection.default_namespace();
    const std::set<kube::NamespacedName> batch = co_await running_batch_jobs(connection, ns);
    std::vector<Judged> judged;
    std::set<std::string> seen;  // the API shows a job in each version that it serves
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        kube::ListOptions list;
        list.namespace_ = ns;
        const auto listed = co_await connection.client().list(kind->resource, list);
        if (!listed && listed.error().code() == Code::kNotFound) continue;
        if (!listed) co_return std::move(listed.error());
        for (const kube::ObjectPtr& job : listed->items) {
            const kube::NamespacedName name = kube::namespaced_name_of(job->as_object());
            if (!seen.insert(kind->resource.kind + " " + name.text()).second) continue;
            ++looked_at;
            auto found = differences_of(jobs::kind_as_written(*kind, *job), *job,
                                        batch.contains({name.namespace_, name.name + "-launcher"}),
                                        connection.clock().wall_now());
            if (!found.empty())
                judged.push_back({kind->resource.kind, name.text(), std::move(found)});
        }
    }
    co_return judged;
}

void print_judged(const std::vector<Judged>& judged, std::size_t looked_at) {
    std::size_t now = 0;
    std::string text;
    for (const Judged& job : judged) {
        text += fmt::format("{} {}\n", job.kind, visible_line(job.name));
        bool at_once = false;
        for (const Difference& one : job.differences) {
            at_once |= one.when == Difference::When::kNow;
            text += fmt::format(
                "  {} {}{}{}\n", one.when == Difference::When::kNow ? "at once:" : "later:  ",
                visible_line(one.field), one.field.empty() ? "" : ": ", visible_line(one.what));
        }
        now += at_once ? 1 : 0;
    }
    text +=
        fmt::format("{}{} job{}: {} would notice the change at once, {} may later, {} not at all\n",
                    judged.empty() ? "" : "\n", looked_at, looked_at == 1 ? "" : "s", now,
                    judged.size() - now, looked_at - judged.size());
    print(text);
}

Task<Result<int>> check_all(Connection& connection, const MigrateOptions& options) {
    std::size_t looked_at = 0;
    CO_TRY(const std::vector<Judged> judged, co_await judge_all(connection, options, looked_at));
    print_judged(judged, looked_at);
    const bool harmless = std::ranges::none_of(judged, [](const Judged& job) {
        return std::ranges::any_of(job.differences, [](const Difference& one) {
            return one.when == Difference::When::kNow;
        });
    });
    co_return harmless ? 0 : 3;
}

int migrate(const MigrateOptions& options) {
    return on_server("migrate", options.server,
                     [&](Connection& connection) { return check_all(connection, options); });
}

class MigrateVerb final : public VerbOf<MigrateOptions> {
  public:
    MigrateVerb() : VerbOf("migrate", kMigrateHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("what", options_.what);
        flags.flag("--all-namespaces,-A", options_.all_namespaces);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.what == "check") return std::nullopt;
        return options_.what.empty()
                   ? "say 'muster migrate check'"
                   : fmt::format("there is 'muster migrate check', not \"{}\"", options_.what);
    }
    int run() override { return migrate(options_); }
};

}  // namespace

std::unique_ptr<Verb> migrate_verb() { return std::make_unique<MigrateVerb>(); }

}  // namespace muster::cli
