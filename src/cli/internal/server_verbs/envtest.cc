#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/shell_word.h"
#include "cli/internal/envtest/assets.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"

namespace muster::cli {

namespace {

constexpr std::string_view kEnvtestHelp =
    R"text(Makes a folder for KUBEBUILDER_ASSETS, from which envtest of controller-runtime starts this program in the place of
etcd and kube-apiserver: a test suite runs as it is, with nothing to download.

Usage: muster envtest DIR [FLAGS]

In DIR are then etcd and kube-apiserver, which are links to this program, and kubectl, a link to that of PATH if there is
one. Each suite has servers of its own, as ever, and they leave nothing behind. What is served is 'muster up --api-only';
docs/foreign-controllers.md says what differs from kube-apiserver.

  -p, --print path|env   what is printed: DIR, or the line that a shell evaluates (default: env)

'DIR/kube-apiserver --help' lists its flags, and which of them have an effect.

Examples:
  eval "$(muster envtest bin/assets)" && go test ./...
  KUBEBUILDER_ASSETS="$(muster envtest bin/assets -p path)" go test ./...
)text";

struct EnvtestOptions {
    std::vector<std::string> folder;
    std::string print = "env";
};

class EnvtestVerb final : public VerbOf<EnvtestOptions> {
  public:
    EnvtestVerb() : VerbOf("envtest", kEnvtestHelp) {}

    void declare(Flags& flags) override {
        flags.words("DIR", options_.folder);
        flags.value("--print,-p", options_.print);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.folder.size() != 1 || options_.folder.front().empty())
            return "name one folder, such as bin/assets";
        if (options_.print != "path" && options_.print != "env")
            return fmt::format("--print wants path or env, not \"{}\"", options_.print);
        return std::nullopt;
    }
    int run() override {
        const control_plane::Caller caller = control_plane::current_caller();
        const std::filesystem::path folder =
            (std::filesystem::path(caller.working_dir) / options_.folder.front())
                .lexically_normal();
        const auto notices =
            make_envtest_assets(folder, control_plane::own_program(), caller.variable("PATH"));
        if (!notices) {
            fmt::print(stderr, "muster envtest: {}\n", notices.error().message());
            return 1;
        }
        for (const std::string& notice : *notices)
            fmt::print(stderr, "muster envtest: {}\n", notice);
        if (options_.print == "path")
            fmt::print("{}\n", folder.string());
        else
            fmt::print("export KUBEBUILDER_ASSETS={}\n", shell_word(folder.string()));
        return 0;
    }
};

}  // namespace

std::unique_ptr<Verb> envtest_verb() { return std::make_unique<EnvtestVerb>(); }

}  // namespace muster::cli
