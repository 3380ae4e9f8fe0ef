#include <fmt/format.h>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/describe/usage.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kTopHelp =
    R"(Shows the CPU and memory that pods or nodes use, the largest users first.

Usage: muster top pods|nodes [NAME...] [FLAGS]

The figures are those of metrics.k8s.io, where the server has it.

  -l, --selector; -A, --all-namespaces; -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when the server does not serve metrics.

Examples:
  muster top pods
  muster top nodes
)";

struct TopOptions {
    ServerOptions server;
    ObjectOptions objects;
};

constexpr std::string_view kMetricsGroup = "metrics.k8s.io";

/// The kind of the metrics API that has the metrics of `kind`.
Result<const ApiResource*> metrics_of(const ResourceCatalog& catalog, const ApiResource& kind) {
    bool served = false;
    for (const ApiResource& resource : catalog.all()) {
        if (resource.type.group != kMetricsGroup) continue;
        served = true;
        if (resource.type.plural == kind.type.plural) return &resource;
    }
    if (served)
        return Error(Code::kInvalid, fmt::format("there are metrics of pods and nodes, not of {}",
                                                 kind.type.plural));
    return Error(Code::kUnsupported,
                 "the server does not serve metrics.k8s.io, so what is used is not known; on a "
                 "cluster, install the metrics server");
}

Task<Result<int>> show_usage(Connection& connection, const TopOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(std::vector<Target> targets, parse_object_words(options.objects.words, catalog));
    if (targets.size() != 1) co_return Error(Code::kInvalid, "name one kind: pods or nodes");
    CO_TRY(targets.front().resource, metrics_of(catalog, *targets.front().resource));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    std::vector<kube::ObjectPtr> metrics;
    for (const ObjectQuery& query : queries) {
        CO_TRY(kube::ListResult list, co_await fetch_objects(connection, query));
        std::ranges::move(list.items, std::back_inserter(metrics));
    }
    const bool of_nodes = targets.front().resource->type.plural == "nodes";
    std::vector<kube::ObjectPtr> nodes;
    if (of_nodes) {
        CO_TRY(kube::ListResult list, co_await connection.client().list(kube::types::kNodes, {}));
        nodes = std::move(list.items);
    }
    TableStyle style;
    style.namespaces = options.objects.all_namespaces && !of_nodes;
    print(TableWriter(style).write(of_nodes ? node_usage(metrics, nodes) : pod_usage(metrics)));
    co_return 0;
}

int top(const TopOptions& options) {
    return on_server("top", options.server,
                     [&](Connection& connection) { return show_usage(connection, options); });
}

class TopVerb final : public VerbOf<TopOptions> {
  public:
    TopVerb() : VerbOf("top", kTopHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        declare_object_flags(flags, options_.objects);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.objects.words.empty()) return "say 'muster top pods' or 'muster top nodes'";
        return std::nullopt;
    }
    int run() override { return top(options_); }
};

}  // namespace

std::unique_ptr<Verb> top_verb() { return std::make_unique<TopVerb>(); }

}  // namespace muster::cli
