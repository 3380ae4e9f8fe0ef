#include <fmt/format.h>

#include "base/time/real_clock.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/describe/description.h"
#include "cli/internal/describe/event_lines.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_description.h"
#include "cli/internal/verbs/verbs.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::string_view kDescribeHelp =
    R"(Describes runs and objects, and what happened to them.

Usage: muster describe KIND[,KIND...] [NAME...] [FLAGS]
       muster describe KIND/NAME...  [FLAGS]
       muster describe RUN
       muster describe NAME...       [FLAGS]       of a job, else of a pod

For a job: its replicas, restarts, pods and conditions, and which container failed first. For a pod: its containers,
with their current and previous states. For a node: its resources. For anything else: its fields.

  -l, --selector; --field-selector; -A, --all-namespaces; -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when something named does not exist.

Examples:
  muster describe train
  muster describe digits
  muster describe pytorchjob/digits
  muster describe pods -l training.kubeflow.org/job-name=digits
)";

struct DescribeOptions {
    ServerOptions server;
    ObjectOptions objects;
};

constexpr const char* kDescribeVerb = "describe";

Task<Result<std::vector<kube::ObjectPtr>>> pods_of_job(Connection& connection,
                                                       kube::ObjectPtr job) {
    kube::ListOptions pods;
    pods.namespace_ = kube::namespace_of(job->get_object());
    pods.label_selector =
        fmt::format("{}={}", jobs::labels::kJobName, kube::name_of(job->get_object()));
    CO_TRY(kube::ListResult list, co_await connection.client().list(kube::types::kPods, pods));
    co_return std::move(list.items);
}

Task<Result<std::string>> description_of(Connection& connection, const ApiResource& resource,
                                         kube::ObjectPtr object) {
    const json::object& root = object->get_object();
    std::vector<kube::ObjectPtr> pods;
    if (is_of_jobs(resource)) {
        CO_TRY(pods, co_await pods_of_job(connection, object));
    }
    kube::ListOptions where;
    // Events about objects without a namespace are in the default one.
    where.namespace_ = resource.type.namespaced ? std::string(kube::namespace_of(root)) : "default";
    CO_TRY(kube::ListResult events, co_await connection.client().list(kube::types::kEvents, where));
    // A node's events name it but do not always have its uid.
    const EventSubject subject{
        resource.type.kind, std::string(kube::name_of(root)),
        resource.type.namespaced ? std::string(kube::uid_of(root)) : std::string()};
    std::erase_if(events.items,
                  [&](const kube::ObjectPtr& event) { return !is_about(*event, subject); });
    co_return describe_object(*object, pods, events.items, connection.clock().wall_now());
}

Task<Result<int>> describe_objects(Connection& connection, const DescribeOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const auto targets, co_await find_targets(connection, catalog, options.objects.words));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    bool any = false;
    bool failed = false;
    for (const ObjectQuery& query : queries) {
        Result<kube::ListResult> list = co_await fetch_objects(connection, query);
        if (!list && list.error().code() != Code::kNotFound) co_return std::move(list.error());
        if (!list) {
            tell_error(kDescribeVerb, list.error());
            failed = true;
            continue;
        }
        for (const kube::ObjectPtr& object : list->items) {
            CO_TRY(const std::string text,
                   co_await description_of(connection, *query.resource, object));
            print(std::exchange(any, true) ? "\n" + text : text);
        }
    }
    if (!any && !failed)
        co_return Error(Code::kNotFound, "no object matches the names and selectors");
    co_return failed ? 1 : 0;
}

int describe(const DescribeOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    const std::vector<std::string>& words = options.objects.words;
    std::optional<FoundRun> run;
    // Any other word is the kind of something on a server, which says what is wrong.
    if (words.size() == 1)
        run = find_named_run(words.front(), options.server, caller).value_or(std::nullopt);
    if (run) {
        const Result<std::string> text = describe_run(*run, RealClock().wall_now());
        if (text) print(*text);
        if (!text) tell_error(kDescribeVerb, text.error());
        return text ? 0 : 1;
    }
    return on_server(kDescribeVerb, options.server,
                     [&](Connection& connection) { return describe_objects(connection, options); });
}

class DescribeVerb final : public VerbOf<DescribeOptions> {
  public:
    DescribeVerb() : VerbOf("describe", kDescribeHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        declare_object_flags(flags, options_.objects);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.objects.words.empty())
            return "name what to describe, as in 'muster describe node'";
        return std::nullopt;
    }
    int run() override { return describe(options_); }
};

}  // namespace

std::unique_ptr<Verb> describe_verb() { return std::make_unique<DescribeVerb>(); }

}  // namespace muster::cli
