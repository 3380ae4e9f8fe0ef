#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/time/time_limit.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/manifest_objects.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/values/json_access.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr std::string_view kDeleteHelp =
    R"(Deletes objects, and waits until they are gone.

Usage: muster delete KIND[,KIND...] NAME...        [FLAGS]
       muster delete KIND/NAME...                  [FLAGS]
       muster delete KIND[,KIND...] -l S | --all   [FLAGS]
       muster delete -f FILE                       [FLAGS]

Which:
  -f, --filename FILE        the objects of a manifest; may be repeated
  -l, --selector SELECTOR    by labels; --field-selector by fields
      --all                  all of that kind in the namespace
  -A, --all-namespaces       with a selector or --all: of every namespace
      --ignore-not-found     it is not an error if something does not exist

How:
      --no-wait              do not wait until they are gone (also: --wait=false)
      --timeout DURATION     wait no longer than this, as in 90s; default: as long as it takes
      --cascade HOW          what an object owns is deleted after it (background, the default),
                             before it (foreground), or kept (orphan)
      --grace-period SECONDS how long processes may take to end; default: as the pod says
      --force                no grace period: processes are killed
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0 when all are gone; 1 when something could not be deleted, or still exists after --timeout.

Examples:
  muster delete pytorchjob digits
  muster delete -f job.yaml --ignore-not-found
  muster delete pods -l app=digits --grace-period 5
)";

constexpr const char* kDeleteVerb = "delete";

kube::DeleteOptions delete_options(const DeleteOptions& options) {
    kube::DeleteOptions made;
    made.grace_period_seconds = options.force ? 0 : options.grace_period;
    made.propagation = options.cascade == Cascade::kForeground ? kube::Propagation::kForeground
                       : options.cascade == Cascade::kOrphan   ? kube::Propagation::kOrphan
                                                               : kube::Propagation::kBackground;
    return made;
}

Result<std::vector<ChosenObject>> doomed_of_files(const DeleteOptions& options,
                                                  const ResourceCatalog& catalog,
                                                  const std::string& default_namespace) {
    manifest::Manifest manifest = manifest::read_manifest_files(options.objects.files);
    std::vector<manifest::Problem> problems = std::move(manifest.problems);
    std::vector<ChosenObject> doomed;
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

/// All objects that the words and selectors choose.
Task<Result<std::vector<ChosenObject>>> doomed_of_words(Connection& connection,
                                                        const DeleteOptions& options,
                                                        const ResourceCatalog& catalog) {
    CO_TRY(const auto targets, parse_object_words(options.objects.words, catalog));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    const bool chosen = options.all || !options.objects.label_selector.empty() ||
                        !options.objects.field_selector.empty();
    std::vector<ChosenObject> doomed;
    for (const ObjectQuery& query : queries) {
        const bool named = !query.name.empty();
        if (!named && !chosen)
            co_return Error(Code::kInvalid,
                            fmt::format("which {}? Give names, a selector (-l), or --all",
                                        query.resource->type.plural));
        // Kinds of a category that can't be deleted are left out.
        if (!named && !query.resource->can("delete")) continue;
        CO_TRY(std::vector<ChosenObject> found, co_await chosen_by(connection, query));
        std::ranges::move(found, std::back_inserter(doomed));
    }
    co_return doomed;
}

/// The present uid of an object; "" if there is none.
Task<Result<std::string>> uid_now(Connection& connection, const ChosenObject& doomed) {
    auto object = co_await connection.client().get(doomed.type, doomed.namespace_, doomed.name);
    if (!object && object.error().code() == Code::kNotFound) co_return std::string();
    if (!object) co_return std::move(object.error());
    co_return std::string(kube::uid_of((*object)->get_object()));
}

/// Returns when the object of that uid is gone; another of its name does not count.
Task<Result<void>> wait_gone(Connection& connection, const ChosenObject& doomed, std::string uid) {
    const std::function<bool(const json::value*)> seen = [uid](const json::value* object) {
        return object == nullptr || kube::uid_of(object->get_object()) != uid;
    };
    co_return co_await follow_object(connection, doomed.type, doomed.namespace_, doomed.name, seen);
}

struct Waited {
    ChosenObject doomed;
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
            tell_error(
                kDeleteVerb,
                Error(Code::kTimeout, fmt::format("{} is still there after --timeout: it waits for "
                                                  "its grace period or a finalizer",
                                                  one.doomed.shown)));
    }
    co_return 1;
}

Task<Result<int>> remove_objects(Connection& connection, const DeleteOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    std::vector<ChosenObject> doomed;
    if (options.objects.files.empty()) {
        CO_TRY(doomed, co_await doomed_of_words(connection, options, catalog));
    } else {
        CO_TRY(doomed, doomed_of_files(options, catalog, connection.default_namespace()));
    }
    if (doomed.empty()) fmt::print(stderr, "No resources found.\n");
    std::vector<Waited> waited;
    bool failed = false;
    for (const ChosenObject& one : doomed) {
        CO_TRY(const std::string uid, co_await uid_now(connection, one));
        auto removed = co_await connection.client().remove(one.type, one.namespace_, one.name,
                                                           delete_options(options));
        if (!removed && removed.error().code() == Code::kNotFound && options.ignore_not_found)
            continue;
        if (!removed && removed.error().code() == Code::kUnavailable)
            co_return std::move(removed.error());
        if (!removed) {
            failed = true;
            tell_error(kDeleteVerb, removed.error());
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

int delete_objects(const DeleteOptions& options) {
    return on_server(kDeleteVerb, options.server,
                     [&](Connection& connection) { return remove_objects(connection, options); });
}

std::optional<std::string> read_cascade(const std::string& text, Cascade& cascade) {
    if (text == "foreground")
        cascade = Cascade::kForeground;
    else if (text == "orphan")
        cascade = Cascade::kOrphan;
    else if (text != "background")
        return fmt::format("--cascade wants background, foreground or orphan, not \"{}\"", text);
    return std::nullopt;
}

std::optional<std::string> check_grace(const DeleteOptions& options) {
    if (options.grace_period && *options.grace_period < 0)
        return fmt::format("--grace-period wants seconds, not {}", *options.grace_period);
    if (options.grace_period == 0 && !options.force)
        return "--grace-period 0 kills at once and needs --force too";
    if (options.force && options.grace_period.value_or(0) != 0)
        return "--force kills at once: leave out --grace-period";
    return std::nullopt;
}

class DeleteVerb final : public VerbOf<DeleteOptions> {
  public:
    DeleteVerb() : VerbOf("delete", kDeleteHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        declare_object_flags(flags, options_.objects);
        flags.list("-f,--filename", options_.objects.files);
        flags.flag("--all", options_.all);
        flags.flag("--wait,!--no-wait", options_.wait);
        flags.value("--cascade", cascade_);
        flags.value("--grace-period", options_.grace_period);
        flags.flag("--force", options_.force);
        flags.flag("--ignore-not-found", options_.ignore_not_found);
        flags.value("--timeout", timeout_);
    }
    std::optional<std::string> finish(const Flags&) override {
        const ObjectOptions& objects = options_.objects;
        if (objects.words.empty() == objects.files.empty())
            return objects.words.empty() ? "name what to delete, or a manifest with -f"
                                         : "name objects or a manifest (-f), not both";
        if (auto wrong = check_grace(options_)) return wrong;
        if (auto wrong = read_cascade(cascade_, options_.cascade)) return wrong;
        if (timeout_.empty()) return std::nullopt;
        return read_timeout(timeout_, options_.timeout.emplace());
    }
    int run() override { return delete_objects(options_); }

  private:
    std::string cascade_ = "background";
    std::string timeout_;
};

}  // namespace

std::unique_ptr<Verb> delete_verb() { return std::make_unique<DeleteVerb>(); }

}  // namespace muster::cli
