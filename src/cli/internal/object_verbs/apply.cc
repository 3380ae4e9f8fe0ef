#include <fmt/format.h>

#include <cstdio>

#include "base/visible_text.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/applied_change.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/manifest_objects.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/objects/api_status.h"
#include "manifest/check.h"
#include "manifest/known_kinds.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr std::string_view kApplyHelp =
    R"(Makes objects be as a manifest says, field by field (server-side apply).

Usage: muster apply -f FILE... [FLAGS]             FILE may be - for standard input

The manifest is checked as by 'muster validate --anywhere', with file and line, before anything is sent. The fields
that it sets belong to the manager "muster" then; fields that others set stay as they are, and fields that an
earlier apply set and that are no longer in the manifest are removed.

  -f, --filename FILE        may be repeated
      --force-conflicts      take over fields that another manager owns
      --dry-run              the server checks and answers, but stores nothing
      --strict               unknown fields are errors, not warnings
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; the namespace is for objects without one

Exit status: 0; 1 when the server rejected something; 2 when the manifest is wrong, and nothing was sent.

Examples:
  muster apply -f job.yaml
  muster apply -f job.yaml --dry-run --strict
)";

struct ApplyOptions {
    ServerOptions server;
    std::vector<std::string> files;
    bool force_conflicts = false;
    bool dry_run = false;
    bool strict = false;
};

constexpr const char* kApplyVerb = "apply";
/// The manager of the fields that this verb sets.
constexpr const char* kManager = "muster";
constexpr int kRefused = 2;

/// Checks that need no server: everything for kinds that we know; for others, that they have a
/// name.
std::vector<manifest::Problem> check(const std::vector<manifest::Document>& documents,
                                     bool strict) {
    std::vector<manifest::Document> known;
    std::vector<manifest::Problem> problems;
    for (const manifest::Document& document : documents) {
        const DocumentIdentity identity = identity_of(document);
        std::vector<manifest::Problem> unnamed = check_identity(document);
        if (unnamed.empty() &&
            manifest::look_up(identity.api_version, identity.kind).known != nullptr)
            known.push_back(document);
        std::ranges::move(unnamed, std::back_inserter(problems));
    }
    manifest::CheckResult checked = manifest::check_documents(std::move(known), {.strict = strict});
    std::ranges::move(checked.problems, std::back_inserter(problems));
    return problems;
}

int refuse(const std::vector<manifest::Problem>& problems, std::string_view done) {
    fmt::print(stderr, "muster apply: {}; {}\n", manifest::count_problems(problems), done);
    return kRefused;
}

void tell(const std::vector<manifest::Problem>& problems) {
    for (const manifest::Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
}

/// The server's refusal in the manifest's own terms.
Error explained(const ManifestObject& object, Error error) {
    std::string message = fmt::format("{}: {}", object.shown, error.message());
    bool conflict = false;
    for (const Cause& cause : error.causes()) {
        if (cause.reason != "FieldManagerConflict") continue;
        if (!conflict)
            message = fmt::format("{}: others own fields that this manifest sets:", object.shown);
        conflict = true;
        message += fmt::format("\n  {}: {}", cause.field, cause.message);
    }
    if (conflict)
        message += "\n  leave them out of the manifest, or take them over with --force-conflicts";
    return Error(error.code(), std::move(message));
}

/// "created", "configured" or "unchanged".
Task<Result<std::string>> apply_one(Connection& connection, const ApplyOptions& options,
                                    const ManifestObject& object) {
    const auto before =
        co_await connection.client().get(object.type, object.namespace_, object.name);
    if (!before && before.error().code() != Code::kNotFound)
        co_return explained(object, before.error());
    kube::Request request;
    request.method = kube::Method::kPatch;
    request.path = object.type.path(object.namespace_, object.name);
    request.query = {{"fieldManager", kManager},
                     {"fieldValidation", options.strict ? "Strict" : "Warn"}};
    if (options.force_conflicts) request.query.emplace_back("force", "true");
    if (options.dry_run) request.query.emplace_back("dryRun", "All");
    request.content_type = kube::ContentType::kApplyPatch;
    request.body = std::make_shared<const json::value>(object.document.object);
    CO_TRY(const kube::Response response, co_await connection.objects().call(std::move(request)));
    for (const std::string& warning : response.warnings)
        fmt::print(stderr, "muster apply: {}: warning: {}\n", object.shown, visible_line(warning));
    if (response.status >= 300)
        co_return explained(object, kube::error_from_status(response.status, *response.body));
    if (!before) co_return std::string("created");
    co_return std::string(
        changed_nothing(object.document.object, kManager, **before, *response.body) ? "unchanged"
                                                                                    : "configured");
}

Task<Result<int>> apply_all(Connection& connection, const ApplyOptions& options,
                            const std::vector<manifest::Document>& documents) {
    CO_TRY(ResourceCatalog catalog, co_await discover(connection));
    int status = 0;
    for (const manifest::Document& document : documents) {
        auto object = place_object(document, catalog, connection.default_namespace());
        if (!object) {
            // What was applied just now may define it.
            CO_TRY(catalog, co_await discover(connection));
            object = place_object(document, catalog, connection.default_namespace());
        }
        if (!object) {
            tell({object.error()});
            status = 1;
            continue;
        }
        auto done = co_await apply_one(connection, options, *object);
        if (done) {
            print(fmt::format("{} {}{}\n", object->shown, *done,
                              options.dry_run ? " (dry run)" : ""));
            continue;
        }
        // Any other object would fail in the same way.
        if (done.error().code() == Code::kUnavailable || done.error().code() == Code::kUnauthorized)
            co_return std::move(done.error());
        tell_error(kApplyVerb, done.error());
        status = 1;
    }
    co_return status;
}

int apply(const ApplyOptions& options) {
    manifest::Manifest manifest = manifest::read_manifest_files(options.files);
    std::vector<manifest::Problem> problems = std::move(manifest.problems);
    std::ranges::move(check(manifest.documents, options.strict), std::back_inserter(problems));
    manifest::sort_problems(problems);
    tell(problems);
    if (manifest::has_errors(problems)) return refuse(problems, "nothing was applied");
    if (manifest.documents.empty()) {
        fmt::print(stderr, "muster apply: the files hold no object\n");
        return kRefused;
    }
    return on_server(kApplyVerb, options.server, [&](Connection& connection) {
        return apply_all(connection, options, manifest.documents);
    });
}

class ApplyVerb final : public VerbOf<ApplyOptions> {
  public:
    ApplyVerb() : VerbOf("apply", kApplyHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        files_.declare(flags, options_.files);
        flags.flag("--force-conflicts", options_.force_conflicts);
        flags.flag("--dry-run", options_.dry_run);
        flags.flag("--strict", options_.strict);
    }
    std::optional<std::string> finish(const Flags&) override {
        files_.finish(options_.files);
        if (options_.files.empty()) return "name a manifest with -f, or - for standard input";
        return std::nullopt;
    }
    int run() override { return apply(options_); }

  private:
    FileFlags files_;
};

}  // namespace

std::unique_ptr<Verb> apply_verb() { return std::make_unique<ApplyVerb>(); }

}  // namespace muster::cli
