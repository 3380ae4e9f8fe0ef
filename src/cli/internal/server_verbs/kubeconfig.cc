#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/connect/kubeconfig_host.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr std::string_view kKubeconfigHelp =
    R"(Prints the kubeconfig that 'muster up' wrote.

Usage: muster kubeconfig [FLAGS]

      --state DIR            its state directory (default: ~/.muster)
      --host HOST            for clients on other machines: a name or an address of this one at which
                             they reach it, after 'muster up --listen'

Examples:
  muster kubeconfig > up.kubeconfig && kubectl --kubeconfig up.kubeconfig get nodes
  muster kubeconfig --host node0 > node0.kubeconfig
)";

int kubeconfig(const KubeconfigOptions& options) {
    const std::filesystem::path file =
        control_plane::state_path(options.state_dir, control_plane::current_caller()) /
        "kubeconfig";
    std::error_code missing;
    if (!std::filesystem::exists(file, missing) && !missing) {
        fmt::print(stderr, "muster kubeconfig: there is no {}; 'muster up' writes it\n",
                   file.string());
        return 1;
    }
    auto text = manifest::read_file(file.string());
    if (!text) {
        fmt::print(stderr, "muster kubeconfig: {}: {}\n", file.string(), text.error().message());
        return 1;
    }
    if (!options.host.empty()) {
        text = with_host(*std::move(text), options.host);
        if (!text) {
            fmt::print(stderr, "muster kubeconfig: {}\n", text.error().message());
            return 2;
        }
    }
    fmt::print("{}", *text);
    return 0;
}

class KubeconfigVerb final : public VerbOf<KubeconfigOptions> {
  public:
    KubeconfigVerb() : VerbOf("kubeconfig", kKubeconfigHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.value("--host", options_.host, not_unnamed);
    }
    int run() override { return kubeconfig(options_); }
};

}  // namespace

std::unique_ptr<Verb> kubeconfig_verb() { return std::make_unique<KubeconfigVerb>(); }

}  // namespace muster::cli
