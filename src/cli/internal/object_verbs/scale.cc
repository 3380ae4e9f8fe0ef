#include <fmt/format.h>

#include <cstdio>

#include "base/visible_text.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/objects/replica_words.h"
#include "cli/internal/verbs/verbs.h"
#include "jobs/kind.h"
#include "kube/patch/patch.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::string_view kScaleHelp =
    R"(Changes the number of replicas of a job, or of anything else that can be scaled.

Usage: muster scale JOB --replicas TYPE=N [FLAGS]
       muster scale KIND/NAME --replicas N [FLAGS]

      --replicas TYPE=N      of one type of the job's replicas, as in Worker=4; may be repeated
      --replicas N           what the kind itself calls its scale: the workers of a PyTorchJob, the pods of a
                             Deployment
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

What follows for the processes of a job that runs is said in docs/elastic.md.

Exit status: 0; 1 when there is no such object, or the server refused.

Examples:
  muster scale digits --replicas Worker=4
  muster scale tfjob/mnist --replicas Worker=4 --replicas PS=2
)";

constexpr const char* kScaleVerb = "scale";

struct ScaleOptions {
    ServerOptions server;
    std::string about;
    std::vector<ReplicaWord> replicas;
};

Task<Result<NamedObject>> find_scaled(Connection& connection, const ResourceCatalog& catalog,
                                      std::string about) {
    CO_TRY(PossibleObject possible, parse_object_name(about, catalog));
    auto& [kinds, name] = possible;
    if (about.find('/') == about.npos) kinds.pop_back();  // a pod has no replicas
    CO_TRY(NamedObject found, co_await find_named(connection, kinds, name));
    if (found.resource == nullptr)
        co_return Error(Code::kNotFound,
                        fmt::format("there is no {} \"{}\" in namespace {}",
                                    kinds.size() == 1 ? kinds.front()->qualified_singular() : "job",
                                    name, connection.default_namespace()));
    co_return found;
}

Task<Result<kube::Written>> change_types(Connection& connection, NamedObject found,
                                         std::vector<ReplicaWord> replicas) {
    const json::object& object = found.object->get_object();
    const std::string name(kube::name_of(object));
    const jobs::JobKind* const kind =
        jobs::find_kind(found.resource->type.api_version(), found.resource->type.kind);
    if (kind == nullptr)
        co_return Error(
            Code::kInvalid,
            fmt::format("{}/{} has no types of replicas: write --replicas {}",
                        found.resource->qualified_singular(), name, replicas.front().count));
    CO_TRY(json::value patch, replica_patch(object, kind->replicas_field, replicas));
    // The API takes what only the operator would refuse: by failing the job.
    CO_TRY(const json::value scaled, kube::apply_merge_patch(*found.object, patch));
    CO_TRY_VOID(jobs::load(*kind, scaled));
    co_return co_await connection.client().patch(found.resource->type,
                                                 connection.default_namespace(), name,
                                                 kube::ContentType::kMergePatch, std::move(patch));
}

Task<Result<kube::Written>> change_scale(Connection& connection, NamedObject found,
                                         std::int32_t count) {
    const std::string name(kube::name_of(found.object->get_object()));
    const json::value patch{{"spec", {{"replicas", count}}}};
    auto written =
        co_await connection.client().patch(found.resource->type, connection.default_namespace(),
                                           name, kube::ContentType::kMergePatch, patch, "scale");
    if (!written && written.error().code() == Code::kNotFound)
        co_return Error(
            Code::kInvalid,
            fmt::format("the kind {} has no scale of its own: say which replicas, as in "
                        "--replicas Worker={}",
                        found.resource->qualified_singular(), count));
    co_return written;
}

Task<Result<int>> scale_object(Connection& connection, const ScaleOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(NamedObject found, co_await find_scaled(connection, catalog, options.about));
    const std::string shown = fmt::format("{}/{}", found.resource->qualified_singular(),
                                          kube::name_of(found.object->get_object()));
    const bool whole = options.replicas.front().type.empty();
    auto change = whole ? change_scale(connection, std::move(found), options.replicas.front().count)
                        : change_types(connection, std::move(found), options.replicas);
    CO_TRY(const kube::Written written, co_await std::move(change));
    for (const std::string& warning : written.warnings)
        fmt::print(stderr, "Warning: {}\n", visible_text(warning));
    print(shown + " scaled\n");
    co_return 0;
}

class ScaleVerb final : public VerbOf<ScaleOptions> {
  public:
    ScaleVerb() : VerbOf("scale", kScaleHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
        flags.list("--replicas", replicas_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a job, or KIND/NAME";
        auto replicas = parse_replica_words(replicas_);
        if (!replicas) return replicas.error().message();
        options_.replicas = *std::move(replicas);
        return std::nullopt;
    }
    int run() override {
        return on_server(kScaleVerb, options_.server, [this](Connection& connection) {
            return scale_object(connection, options_);
        });
    }

  private:
    std::vector<std::string> replicas_;
};

}  // namespace

std::unique_ptr<Verb> scale_verb() { return std::make_unique<ScaleVerb>(); }

}  // namespace muster::cli
