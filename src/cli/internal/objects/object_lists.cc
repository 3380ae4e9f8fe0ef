#include "cli/internal/objects/object_lists.h"

#include <fmt/format.h>

#include "cli/internal/objects/discover.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

/// How much of a list is requested at a time.
constexpr int kPage = 500;

using Query = std::vector<std::pair<std::string, std::string>>;

void put(Query& query, const char* key, const std::string& value) {
    if (!value.empty()) query.emplace_back(key, value);
}

}  // namespace

std::string with_name(const std::string& field_selector, const std::string& name) {
    if (name.empty()) return field_selector;
    return fmt::format("metadata.name={}{}{}", name, field_selector.empty() ? "" : ",",
                       field_selector);
}

Result<std::vector<ObjectQuery>> make_queries(const std::vector<Target>& targets,
                                              const ObjectOptions& options,
                                              const std::string& default_namespace) {
    std::vector<ObjectQuery> queries;
    for (const Target& target : targets) {
        const bool selects = !options.label_selector.empty() || !options.field_selector.empty();
        if (!target.names.empty() && selects)
            return Error(Code::kInvalid,
                         "names and selectors (-l, --field-selector) do not go "
                         "together: leave one of them out");
        if (!target.names.empty() && options.all_namespaces)
            return Error(Code::kInvalid,
                         "a name belongs to one namespace: leave out -A and use --namespace");
        ObjectQuery query{.resource = target.resource,
                          .namespace_ = target.resource->type.namespaced && !options.all_namespaces
                                            ? default_namespace
                                            : std::string(),
                          .name = {},
                          .label_selector = options.label_selector,
                          .field_selector = options.field_selector};
        if (target.names.empty()) queries.push_back(query);
        for (const std::string& name : target.names) {
            query.name = name;
            queries.push_back(query);
        }
    }
    return queries;
}

Task<Result<ObjectTable>> fetch_table(Connection& connection, ObjectQuery query) {
    const std::string path = query.resource->type.path(query.namespace_, query.name);
    ObjectTable all;
    for (;;) {
        Query parameters;
        if (query.name.empty()) {
            put(parameters, "labelSelector", query.label_selector);
            put(parameters, "fieldSelector", query.field_selector);
            put(parameters, "limit", std::to_string(kPage));
            put(parameters, "continue", all.continue_);
        }
        CO_TRY(const kube::ObjectPtr document,
               co_await fetch(connection.tables(), path, std::move(parameters)));
        ObjectTable page = read_table(*document, connection.clock().wall_now());
        if (all.columns.empty()) all.columns = std::move(page.columns);
        std::ranges::move(page.rows, std::back_inserter(all.rows));
        all.resource_version = std::move(page.resource_version);
        all.continue_ = std::move(page.continue_);
        if (all.continue_.empty()) co_return all;
    }
}

Task<Result<kube::ListResult>> fetch_objects(Connection& connection, ObjectQuery query) {
    kube::ListResult all;
    if (!query.name.empty()) {
        CO_TRY(kube::ObjectPtr object, co_await connection.client().get(
                                           query.resource->type, query.namespace_, query.name));
        all.items.push_back(std::move(object));
        co_return all;
    }
    kube::ListOptions options;
    options.namespace_ = query.namespace_;
    options.label_selector = query.label_selector;
    options.field_selector = query.field_selector;
    options.limit = kPage;
    for (;;) {
        CO_TRY(kube::ListResult page,
               co_await connection.client().list(query.resource->type, options));
        std::ranges::move(page.items, std::back_inserter(all.items));
        all.resource_version = std::move(page.resource_version);
        options.continue_ = std::move(page.continue_);
        if (options.continue_.empty()) co_return all;
    }
}

Task<Result<std::vector<ChosenObject>>> chosen_by(Connection& connection, ObjectQuery query) {
    std::vector<ChosenObject> chosen;
    const auto add = [&](std::string_view ns, std::string_view name) {
        chosen.push_back({query.resource->type,
                          fmt::format("{}/{}", query.resource->qualified_singular(), name),
                          std::string(ns), std::string(name)});
    };
    if (!query.name.empty()) {
        add(query.namespace_, query.name);
        co_return chosen;
    }
    CO_TRY(const kube::ListResult list, co_await fetch_objects(connection, query));
    for (const kube::ObjectPtr& object : list.items)
        add(kube::namespace_of(object->get_object()), kube::name_of(object->get_object()));
    co_return chosen;
}

}  // namespace muster::cli
