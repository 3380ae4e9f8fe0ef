#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/internal/install/layouts.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/values/name_syntax.h"

namespace muster::cli {

namespace {

constexpr std::string_view kManifestsHelp =
    R"(Prints the manifests that install the operator on a cluster: job definitions, roles, the operator itself, and
policies by which the cluster rejects invalid jobs when they are created. Nothing is sent.

Usage: muster manifests [FLAGS] | kubectl apply -f -

      --mpi                  run MPIJobs, too; for them the operator may read and write all Secrets, and run commands in
                             pods, wherever it runs jobs (default: it leaves them alone)
      --agent-tokens         give the agents of elastic PyTorchJobs (muster-run) a token of their job; for that the
                             operator may read and make all Secrets wherever it runs jobs
  -n, --namespace NS         run the jobs of this namespace only, with roles there (default: of all)
      --install-namespace NS where the operator is (default: kubeflow)
      --image IMAGE          of the operator (default: muster/operator:VERSION)
      --replicas N           one leads, the others wait to take over (default: 2)
      --crds-only            the job definitions only, which are the same for every installation
      --without-admission-policy
                             for clusters older than 1.30; the operator checks all jobs in any case
      --layout helm|kustomize
                             write a chart, or a base and an overlay for one namespace, instead
      --output-dir DIR       where the files of a layout go; existing files are overwritten

What each permission is for: docs/cluster.md.

Examples:
  muster manifests --image registry.example/muster:1 | kubectl apply -f -
  muster manifests --mpi --image registry.example/muster:1 | kubectl apply -f -
  muster manifests --namespace team-a --install-namespace team-a | kubectl apply -f -
  muster manifests --crds-only | kubectl apply -f -

Exit status: 0; 1 when a file could not be written; 2 when a flag is wrong.
)";

namespace fs = std::filesystem;

std::string all_objects(const ManifestsOptions& options) {
    std::vector<json::value> objects;
    if (!options.crds_only) objects.push_back(namespace_object(options.installation));
    for (json::value& definition : job_definitions().objects)
        objects.push_back(std::move(definition));
    if (!options.crds_only)
        for (Part& part : parts_of(options.installation))
            std::ranges::move(part.objects, std::back_inserter(objects));
    return yaml_stream(objects);
}

/// What could not be written, or "".
std::string write(const Files& files, const fs::path& directory) {
    for (const auto& [name, text] : files) {
        const fs::path path = directory / name;
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (failed || !file) return path;
    }
    return {};
}

int manifests(const ManifestsOptions& options) {
    Installation installation = options.installation;
    if (installation.image.is_null()) installation.image = "muster/operator:" MUSTER_VERSION;
    if (options.layout == Layout::kStream) {
        ManifestsOptions filled = options;
        filled.installation = std::move(installation);
        print(all_objects(filled));
        return 0;
    }
    const Files files = options.layout == Layout::kHelm ? helm_chart(installation, MUSTER_VERSION)
                                                        : kustomization(installation);
    const std::string failed = write(files, options.output_dir);
    if (failed.empty()) return 0;
    fmt::print(stderr, "muster manifests: {} can't be written\n", failed);
    return 1;
}

std::optional<std::string> no_namespace(std::string_view flag, const std::string& name) {
    return fmt::format("{} wants the name of a namespace, not \"{}\"", flag, name);
}

std::optional<std::string> check_layout(const ManifestsOptions& options) {
    const bool is_stream = options.layout == Layout::kStream;
    if (is_stream != options.output_dir.empty())
        return is_stream
                   ? "--output-dir needs --layout helm or kustomize: without it all is printed"
                   : "--layout needs --output-dir DIR: it is several files";
    if (!is_stream && options.crds_only) return "--crds-only has no layout: leave --layout out";
    if (!is_stream && !options.installation.watched.empty())
        return "--namespace has no layout: a chart takes it as the value watchNamespace, and the "
               "kustomization has overlays/namespaced";
    if (!is_stream && options.installation.mpi)
        return "--mpi has no layout: a chart takes it as the value mpi, and the kustomization has "
               "components/mpi";
    if (!is_stream && options.installation.agent_tokens)
        return "--agent-tokens has no layout: a chart takes it as the value agentTokens, and the "
               "kustomization has components/agent-tokens";
    return std::nullopt;
}

class ManifestsVerb final : public VerbOf<ManifestsOptions> {
  public:
    ManifestsVerb() : VerbOf("manifests", kManifestsHelp) {}

    void declare(Flags& flags) override {
        flags.value("--namespace,-n", options_.installation.watched);
        flags.value("--install-namespace", options_.installation.namespace_);
        flags.value("--image", image_);
        flags.value("--replicas", replicas_);
        flags.flag("--crds-only", options_.crds_only);
        flags.flag("--mpi", options_.installation.mpi);
        flags.flag("--agent-tokens", options_.installation.agent_tokens);
        flags.flag("--without-admission-policy", without_admission_policy_);
        flags.value("--layout", layout_);
        flags.value("--output-dir", options_.output_dir);
    }
    std::optional<std::string> finish(const Flags&) override {
        Installation& wanted = options_.installation;
        if (!wanted.watched.empty() && !kube::is_dns1123_label(wanted.watched))
            return no_namespace("--namespace", wanted.watched);
        if (!kube::is_dns1123_label(wanted.namespace_))
            return no_namespace("--install-namespace", wanted.namespace_);
        if (replicas_ < 1)
            return fmt::format("--replicas wants a number above 0, not {}", replicas_);
        wanted.replicas = replicas_;
        if (!image_.empty()) wanted.image = json::string(image_);
        wanted.admission_policies = !without_admission_policy_;
        if (layout_ == "helm")
            options_.layout = Layout::kHelm;
        else if (layout_ == "kustomize")
            options_.layout = Layout::kKustomize;
        else if (!layout_.empty())
            return fmt::format("--layout wants helm or kustomize, not \"{}\"", layout_);
        return check_layout(options_);
    }
    int run() override { return manifests(options_); }

  private:
    std::string image_;
    std::int64_t replicas_ = 2;
    bool without_admission_policy_ = false;
    std::string layout_;
};

}  // namespace

std::unique_ptr<Verb> manifests_verb() { return std::make_unique<ManifestsVerb>(); }

}  // namespace muster::cli
