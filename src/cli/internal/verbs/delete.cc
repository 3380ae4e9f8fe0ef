#include <fmt/format.h>

#include <cstdio>

#include "base/time_limit.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/manifest_objects.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/values/json_access.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr const char* kVerb = "delete";

/// One object that is to go.
struct Doomed {
    kube::ResourceType type;
    std::string shown;
    std::string namespace_;
    std::string name;
};

kube::DeleteOptions delete_options(const DeleteOptions& options) {
    kube::DeleteOptions made;
    made.grace_period_seconds = options.force ? 0 : options.grace_period;
    made.propagation = options.cascade == Cascade::kForeground ? kube::Propagation::kForeground
                       : options.cascade == Cascade::kOrphan   ? kube::Propagation::kOrphan
                                                               : kube::Propagation::kBackground;
    return made;
}

Result<std::vector<Doomed>> doomed_of_files(const DeleteOptions& options,
                                            const ResourceCatalog& catalog,
                                            const std::string& default_namespace) {
    manifest::Manifest manifest = manifest::read_manifest_files(options.objects.files);
    std::vector<manifest::Problem> problems = std::move(manifest.problems);
    std::vector<Doomed> doomed;
    for (manifest::Document& document : manifest.documents) {
        std::vector<manifest::Problem> unnamed = check_identity(document);
        std::ranges::copy(unnamed, std::back_inserter(problems));
        if (!unnamed.empty()) continue;
        auto placed = place_object(std::move(document), catalog, default_namespace);
        if (placed)
            doomed.push_back({placed->type, placed->shown, placed->namespace_, placed->name});
        else
            problems.push_back(placed.error());
    }
    manifest::sort_problems(problems);
    for (const manifest::Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(problems))
        return Error(Code::kInvalid, manifest::count_problems(problems) + "; nothing was deleted");
    return doomed;
}

/// All that the words and selectors choose.
Task<Result<std::vector<Doomed>>> doomed_of_words(Connection& connection,
                                                  const DeleteOptions& options,
                                                  const ResourceCatalog& catalog) {
    CO_TRY(const auto targets, parse_object_words(options.objects.words, catalog));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    std::vector<Doomed> doomed;
    for (const ObjectQuery& query : queries) {
        const ApiResource& resource = *query.resource;
        const auto add = [&](std::string_view ns, std::string_view name) {
            doomed.push_back({resource.type,
                              fmt::format("{}/{}", resource.qualified_singular(), name),
                              std::string(ns), std::string(name)});
        };
        if (!query.name.empty()) {
            add(query.namespace_, query.name);
            continue;
        }
        const bool chosen = options.all || !options.objects.label_selector.empty() ||
                            !options.objects.field_selector.empty();
        if (!chosen)
            co_return Error(Code::kInvalid,
                            fmt::format("which {}? Give names, a selector (-l), or --all",
                                        resource.type.plural));
        // A kind of a category that can't be deleted is not meant.
        if (!resource.can("delete")) continue;
        CO_TRY(const kube::ListResult list, co_await fetch_objects(connection, query));
        for (const kube::ObjectPtr& object : list.items)
            add(kube::namespace_of(object->get_object()), kube::name_of(object->get_object()));
    }
    co_return doomed;
}

/// The uid of an object as it is now; "" when there is none.
Task<Result<std::string>> uid_now(Connection& connection, const Doomed& doomed) {
    auto object = co_await connection.client().get(doomed.type, doomed.namespace_, doomed.name);
    if (!object && object.error().code() == Code::kNotFound) co_return std::string();
    if (!object) co_return std::move(object.error());
    co_return std::string(kube::uid_of((*object)->get_object()));
}

/// Returns when the object of that uid is gone; another of its name does not count.
Task<Result<void>> wait_gone(Connection& connection, const Doomed& doomed, std::string uid) {
    const std::function<bool(const json::value*)> seen = [uid](const json::value* object) {
        return object == nullptr || kube::uid_of(object->get_object()) != uid;
    };
    co_return co_await follow_object(connection, doomed.type, doomed.namespace_, doomed.name, seen);
}

struct Waited {
    Doomed doomed;
    std::string uid;
};

Task<Result<void>> wait_all(Connection& connection, std::vector<Waited> waited) {
    for (const Waited& one : waited)
        CO_TRY_VOID(co_await wait_gone(connection, one.doomed, one.uid));
    co_return Result<void>();
}

Task<Result<int>> wait_for(Connection& connection, const DeleteOptions& options,
                           std::vector<Waited> waited) {
    if (!options.timeout) {
        CO_TRY_VOID(co_await wait_all(connection, std::move(waited)));
        co_return 0;
    }
    auto gone = co_await within(connection.clock(), *options.timeout, wait_all(connection, waited));
    if (gone && !*gone) co_return std::move(gone->error());
    if (gone) co_return 0;
    for (const Waited& one : waited) {
        CO_TRY(const std::string uid, co_await uid_now(connection, one.doomed));
        if (uid == one.uid)
            tell_error(kVerb, Error(Code::kTimeout,
                                    fmt::format("{} is still there after --timeout: it waits for "
                                                "its grace period or a finalizer",
                                                one.doomed.shown)));
    }
    co_return 1;
}

Task<Result<int>> remove_objects(Connection& connection, const DeleteOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    std::vector<Doomed> doomed;
    if (options.objects.files.empty()) {
        CO_TRY(doomed, co_await doomed_of_words(connection, options, catalog));
    } else {
        CO_TRY(doomed, doomed_of_files(options, catalog, connection.default_namespace()));
    }
    if (doomed.empty()) fmt::print(stderr, "No resources found.\n");
    std::vector<Waited> waited;
    bool failed = false;
    for (const Doomed& one : doomed) {
        CO_TRY(const std::string uid, co_await uid_now(connection, one));
        auto removed = co_await connection.client().remove(one.type, one.namespace_, one.name,
                                                           delete_options(options));
        if (!removed && removed.error().code() == Code::kNotFound && options.ignore_not_found)
            continue;
        if (!removed && removed.error().code() == Code::kUnavailable)
            co_return std::move(removed.error());
        if (!removed) {
            failed = true;
            tell_error(kVerb, removed.error());
            continue;
        }
        print(fmt::format("{} {}deleted\n", one.shown, options.force ? "force " : ""));
        if (!uid.empty()) waited.push_back({one, uid});
    }
    int status = 0;
    if (options.wait) {
        CO_TRY(status, co_await wait_for(connection, options, std::move(waited)));
    }
    co_return failed ? 1 : status;
}

}  // namespace

int remove(const DeleteOptions& options) {
    return on_server(kVerb, options.server,
                     [&](Connection& connection) { return remove_objects(connection, options); });
}

}  // namespace muster::cli
