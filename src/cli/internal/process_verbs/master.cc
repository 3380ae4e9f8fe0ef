#include "cli/internal/connect/connection.h"
#include "cli/internal/flags/verb.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "master_process/arguments.h"
#include "master_process/run_master.h"

namespace muster::cli {

namespace {

/// Its arguments are parsed as the program in pods does: see master_process::parse_arguments().
class MasterVerb final : public VerbOf<master_process::Arguments> {
  public:
    MasterVerb() : VerbOf("master", master_process::help_text()) {}

    void declare(Flags& flags) override {
        flags.value("--job", options_.job);
        flags.value("--port", options_.port);
        flags.value("--records", options_.records_file);
        flags.flag("--successor", options_.successor);
        flags.value("--record-object", options_.record_object);
        flags.value("--namespace,-n", options_.namespace_);
        flags.value("--kubeconfig", options_.kubeconfig);
        flags.value("--token-file", options_.token_file);
        flags.value("--tls-cert", options_.tls_cert);
        flags.value("--tls-key", options_.tls_key);
        flags.value("--tls-ca", options_.tls_ca);
    }
    bool wants_words() const override { return true; }
    std::optional<std::string> take_words(std::vector<std::string> words) override {
        return master_process::parse_arguments(words, options_);
    }
    int run() override {
        const control_plane::Caller caller = control_plane::current_caller();
        return master_process::run_master(
            options_, caller.environment, [&caller](const master_process::Arguments& arguments) {
                // On one machine a pod sees its user's kubeconfig, which allows everything.
                if (arguments.kubeconfig.empty())
                    return master_process::access_in_pod(caller.environment);
                return find_access({.kubeconfig = arguments.kubeconfig,
                                    .context = {},
                                    .namespace_ = arguments.namespace_},
                                   caller);
            });
    }
};

}  // namespace

std::unique_ptr<Verb> master_verb() { return std::make_unique<MasterVerb>(); }

}  // namespace muster::cli
