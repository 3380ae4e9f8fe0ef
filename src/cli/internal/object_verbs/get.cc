#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/json_path_template.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::string_view kGetHelp =
    R"(Shows objects of 'muster up', or of any Kubernetes API that a kubeconfig names.

Usage: muster get KIND[,KIND...] [NAME...] [FLAGS]
       muster get KIND/NAME...  [FLAGS]

KIND is what the server calls it: plural, singular or short name ("pods", "pod", "po"), with the group after a
dot where two have the same name ("jobs.batch"), or a category such as "all".

Which:
  -A, --all-namespaces       of every namespace
  -l, --selector SELECTOR    by labels, as in app=digits,stage!=test
      --field-selector S     by fields, as in status.phase=Running
      --ignore-not-found     it is not an error if something does not exist

How:
  -o, --output FORMAT        wide: with more columns; json, yaml; name: KIND/NAME; jsonpath=TEMPLATE, as in
                             jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'
  -w, --watch                continue with every change until Ctrl-C
      --show-labels          a last column with the labels
      --no-headers           rows only
      --show-managed-fields  include metadata.managedFields in json and yaml

Which server:
  -n, --namespace NS         default: the context's, else "default"
      --context NAME         of the kubeconfig; default: its current one
      --kubeconfig FILE      default: the list in $KUBECONFIG, else ~/.kube/config, else what 'muster up' wrote
                             to ~/.muster/kubeconfig, else, in a pod, its service account

Exit status: 0; 1 when something named does not exist, or the server can't be reached; 2 for bad flags.

Examples:
  muster get pods
  muster get pytorchjobs,pods -A -o wide
  muster get pod digits-worker-0 -o jsonpath={.status.phase}
  muster get pods -l training.kubeflow.org/job-name=digits -w
)";

constexpr const char* kGetVerb = "get";

bool is_table(ObjectFormat format) {
    return format == ObjectFormat::kTable || format == ObjectFormat::kWide;
}

PrintedAs printed_as(const GetOptions& options) {
    return {.format = options.format,
            .json_path = options.json_path,
            .managed_fields = options.show_managed_fields};
}

TableStyle style_of(const GetOptions& options, const ApiResource& resource, bool several) {
    return {.wide = options.format == ObjectFormat::kWide,
            .namespaces = options.objects.all_namespaces && resource.type.namespaced,
            .labels = options.show_labels,
            .header = options.headers,
            .name_prefix = several ? resource.qualified_singular() + "/" : std::string()};
}

/// Reports a failure after which the other objects can still be shown.
bool tell_failure(const GetOptions& options, const Error& error) {
    if (options.ignore_not_found && error.code() == Code::kNotFound) return false;
    tell_error(kGetVerb, error);
    return true;
}

void tell_nothing_found(const GetOptions& options, const std::vector<ObjectQuery>& queries) {
    if (options.ignore_not_found) return;
    const bool inside = !queries.empty() && !queries.front().namespace_.empty();
    fmt::print(stderr, "No resources found{}\n",
               inside ? fmt::format(" in {} namespace.", queries.front().namespace_) : ".");
}

Task<Result<int>> get_tables(Connection& connection, const GetOptions& options,
                             const std::vector<ObjectQuery>& queries) {
    // Rows of one kind stay together, whether they were requested by name or not.
    struct Headers {
        const ApiResource* resource;
        ObjectTable table;
    };
    std::vector<Headers> all;
    bool failed = false;
    for (const ObjectQuery& query : queries) {
        Result<ObjectTable> table = co_await fetch_table(connection, query);
        if (!table && table.error().code() != Code::kNotFound) co_return std::move(table.error());
        if (!table) {
            failed = tell_failure(options, table.error()) || failed;
            continue;
        }
        if (table->rows.empty()) continue;
        if (all.empty() || all.back().resource != query.resource)
            all.push_back({query.resource, *std::move(table)});
        else
            std::ranges::move(table->rows, std::back_inserter(all.back().table.rows));
    }
    std::string text;
    const bool several = queries.front().resource != queries.back().resource;
    for (const Headers& shown : all) {
        if (!text.empty()) text += '\n';
        text += TableWriter(style_of(options, *shown.resource, several)).write(shown.table);
    }
    print(text);
    if (all.empty() && !failed) tell_nothing_found(options, queries);
    co_return failed ? 1 : 0;
}

Task<Result<int>> get_values(Connection& connection, const GetOptions& options,
                             const std::vector<ObjectQuery>& queries) {
    std::vector<kube::ObjectPtr> objects;
    std::vector<const ApiResource*> resources;
    bool failed = false;
    for (const ObjectQuery& query : queries) {
        Result<kube::ListResult> list = co_await fetch_objects(connection, query);
        if (!list && list.error().code() != Code::kNotFound) co_return std::move(list.error());
        if (!list) {
            failed = tell_failure(options, list.error()) || failed;
            continue;
        }
        std::ranges::move(list->items, std::back_inserter(objects));
        resources.resize(objects.size(), query.resource);
    }
    const bool one = queries.size() == 1 && !queries.front().name.empty();
    if (one && objects.empty()) co_return failed ? 1 : 0;
    CO_TRY(const std::string text, print_objects(objects, resources, printed_as(options), one));
    print_exact(text);
    co_return failed ? 1 : 0;
}

/// Shows one event of a watch.
Result<void> show_event(const GetOptions& options, const ObjectQuery& query, TableWriter& writer,
                        const kube::ObjectPtr& object, WallTime now) {
    if (is_table(options.format)) {
        print(writer.write(read_table(*object, now)));
        return {};
    }
    TRY(const std::string text,
        print_objects({object}, {query.resource}, printed_as(options), true));
    print_exact(options.format == ObjectFormat::kYaml ? "---\n" + text : text);
    return {};
}

/// From `revision` on, until it is cancelled: a watch that the server ends begins again.
Task<Result<int>> watch_on(Connection& connection, const GetOptions& options, ObjectQuery query,
                           TableWriter& writer, std::string revision) {
    kube::Transport& transport =
        is_table(options.format) ? connection.tables() : connection.objects();
    for (;;) {
        kube::Request request;
        request.path = query.resource->type.path(query.namespace_);
        request.query = {
            {"watch", "true"}, {"allowWatchBookmarks", "true"}, {"resourceVersion", revision}};
        if (!query.label_selector.empty())
            request.query.emplace_back("labelSelector", query.label_selector);
        if (!query.field_selector.empty())
            request.query.emplace_back("fieldSelector", query.field_selector);
        CO_TRY(const auto stream, co_await transport.watch(std::move(request)));
        for (;;) {
            CO_TRY(const std::optional<kube::WatchEvent> event, co_await stream->next());
            if (!event) break;
            if (event->type == kube::WatchEventType::kError)
                co_return kube::error_from_status(0, *event->object);
            const WallTime now = connection.clock().wall_now();
            const ObjectTable seen = read_table(*event->object, now);
            if (!seen.resource_version.empty()) revision = seen.resource_version;
            if (event->type == kube::WatchEventType::kBookmark) continue;
            CO_TRY_VOID(show_event(options, query, writer, event->object, now));
        }
    }
}

Task<Result<int>> get_and_watch(Connection& connection, const GetOptions& options,
                                std::vector<ObjectQuery> queries) {
    if (queries.size() != 1)
        co_return Error(Code::kInvalid, "--watch is for one kind, or one object of it");
    ObjectQuery query = queries.front();
    // A list with one item, since that has the revision to continue from.
    query.field_selector = with_name(query.field_selector, std::exchange(query.name, {}));
    TableWriter writer(style_of(options, *query.resource, false));
    std::string revision;
    if (is_table(options.format)) {
        CO_TRY(const ObjectTable table, co_await fetch_table(connection, query));
        print(writer.write(table));
        revision = table.resource_version;
    } else {
        CO_TRY(const kube::ListResult list, co_await fetch_objects(connection, query));
        TableWriter unused({});
        for (const kube::ObjectPtr& object : list.items)
            CO_TRY_VOID(show_event(options, query, unused, object, {}));
        revision = list.resource_version;
    }
    co_return co_await watch_on(connection, options, query, writer, revision);
}

Task<Result<int>> get_objects(Connection& connection, const GetOptions& options) {
    if (options.format == ObjectFormat::kJsonPath)
        CO_TRY_VOID(JsonPathTemplate::parse(options.json_path));
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const auto targets, parse_object_words(options.objects.words, catalog));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    if (queries.empty()) co_return Error(Code::kInvalid, "nothing is named; name a kind");
    if (options.watch) co_return co_await get_and_watch(connection, options, queries);
    if (is_table(options.format)) co_return co_await get_tables(connection, options, queries);
    co_return co_await get_values(connection, options, queries);
}

int get(const GetOptions& options) {
    return on_server(kGetVerb, options.server,
                     [&](Connection& connection) { return get_objects(connection, options); });
}

constexpr std::string_view kJsonPath = "jsonpath=";

std::optional<std::string> read_format(const std::string& output, GetOptions& options) {
    if (output.starts_with(kJsonPath)) {
        options.format = ObjectFormat::kJsonPath;
        options.json_path = output.substr(kJsonPath.size());
        if (options.json_path.empty()) return "--output jsonpath= has no template after its '='";
        return std::nullopt;
    }
    constexpr std::pair<std::string_view, ObjectFormat> kFormats[] = {
        {"", ObjectFormat::kTable},    {"wide", ObjectFormat::kWide}, {"json", ObjectFormat::kJson},
        {"yaml", ObjectFormat::kYaml}, {"name", ObjectFormat::kName},
    };
    for (const auto& [name, format] : kFormats) {
        if (name != output) continue;
        options.format = format;
        return std::nullopt;
    }
    return fmt::format("--output wants wide, json, yaml, name or jsonpath=TEMPLATE, not \"{}\"",
                       output);
}

class GetVerb final : public VerbOf<GetOptions> {
  public:
    GetVerb() : VerbOf("get", kGetHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        declare_object_flags(flags, options_.objects);
        flags.value("--output,-o", output_);
        flags.flag("--watch,-w", options_.watch);
        flags.flag("--show-labels", options_.show_labels);
        flags.flag("--show-managed-fields", options_.show_managed_fields);
        flags.flag("--no-headers", no_headers_);
        flags.flag("--ignore-not-found", options_.ignore_not_found);
    }
    std::optional<std::string> finish(const Flags&) override {
        options_.headers = !no_headers_;
        if (options_.objects.words.empty()) return "name a kind, as in 'muster get pods'";
        return read_format(output_, options_);
    }
    int run() override { return get(options_); }

  private:
    std::string output_;
    bool no_headers_ = false;
};

}  // namespace

std::unique_ptr<Verb> get_verb() { return std::make_unique<GetVerb>(); }

}  // namespace muster::cli
