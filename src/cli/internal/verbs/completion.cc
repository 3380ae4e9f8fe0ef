#include "cli/internal/completion/completion.h"

#include <algorithm>

#include "base/time/time_limit.h"
#include "cli/internal/command_line/command_line.h"
#include "cli/internal/connect/kubeconfig_places.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::string_view kCompletionHelp =
    R"(Prints a script with which a shell completes verbs, flags, kinds, names, namespaces and contexts.

Usage: muster completion bash|zsh|fish

Examples:
  source <(muster completion bash)                  in ~/.bashrc
  source <(muster completion zsh)                   in ~/.zshrc, after compinit
  muster completion fish | source                   in ~/.config/fish/config.fish
)";

struct CompletionOptions {
    std::string shell;
};

using Source = Completion::Source;

/// A user who presses a key does not wait longer.
constexpr Duration kPatience = std::chrono::seconds(2);

std::vector<std::string> contexts(const ServerOptions& server) {
    std::vector<std::string> names;
    const auto texts =
        read_kubeconfigs(kubeconfig_places(server.kubeconfig, control_plane::current_caller()));
    const auto config =
        texts ? merge_kubeconfigs(*texts) : Result<kube::MergedKubeconfig>(texts.error());
    if (config)
        for (const auto& [name, entry] : config->contexts) names.push_back(name);
    return names;
}

Task<Result<std::vector<std::string>>> names_of(Connection& connection,
                                                const ApiResource& resource) {
    ObjectQuery query;
    query.resource = &resource;
    if (resource.type.namespaced) query.namespace_ = connection.default_namespace();
    CO_TRY(const ObjectTable table, co_await fetch_table(connection, query));
    std::vector<std::string> names;
    for (const TableRow& row : table.rows) names.push_back(row.name);
    co_return names;
}

Task<Result<std::vector<std::string>>> ask(Connection& connection, const Completion& completion) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    std::vector<std::string> words;
    if (completion.source == Source::kKinds) {
        for (const ApiResource& resource : catalog.all())
            if (resource.can("list")) words.push_back(resource.type.plural);
        co_return words;
    }
    std::vector<const ApiResource*> resources;
    if (completion.source == Source::kJobs) {
        for (const ApiResource& resource : catalog.all())
            if (is_of_jobs(resource) && resource.can("list")) resources.push_back(&resource);
    } else {
        CO_TRY(resources, catalog.find(completion.source == Source::kNamespaces ? "namespaces"
                                                                                : completion.kind));
    }
    for (const ApiResource* resource : resources) {
        CO_TRY(const std::vector<std::string> names, co_await names_of(connection, *resource));
        words.insert(words.end(), names.begin(), names.end());
    }
    co_return words;
}

void answer(const Completion& completion, const std::vector<std::string>& candidates) {
    std::string text;
    for (const std::string& word : fitting(completion, candidates)) text += word + '\n';
    print(text);
}

Task<Result<int>> answer_from_server(Connection& connection, const Completion& completion) {
    auto words = co_await within(connection.clock(), kPatience, ask(connection, completion));
    if (words && *words) answer(completion, **words);
    co_return 0;
}

int completion(const CompletionOptions& options) {
    print(completion_script(options.shell));
    return 0;
}

int complete(const CompleteOptions& options) {
    const Completion wanted = complete_line(known_verbs(), options.words);
    if (wanted.source == Source::kWords || wanted.source == Source::kContexts) {
        answer(wanted, wanted.source == Source::kWords ? wanted.words : contexts(wanted.server));
        return 0;
    }
    return on_server("__complete", wanted.server, [&](Connection& connection) {
        return answer_from_server(connection, wanted);
    });
}

class CompletionVerb final : public VerbOf<CompletionOptions> {
  public:
    CompletionVerb() : VerbOf("completion", kCompletionHelp) {}

    void declare(Flags& flags) override { flags.value("shell", options_.shell); }
    std::optional<std::string> finish(const Flags&) override {
        for (const std::string_view shell : {"bash", "zsh", "fish"})
            if (options_.shell == shell) return std::nullopt;
        return fmt::format("there is completion for bash, zsh and fish, not for \"{}\"",
                           options_.shell);
    }
    int run() override { return completion(options_); }
};

/// Called by the completion of shells.
class CompleteVerb final : public VerbOf<CompleteOptions> {
  public:
    CompleteVerb() : VerbOf(kCompleteVerb, "") {}

    // The words are a line for another shell to finish, not for us to parse.
    bool wants_words() const override { return true; }
    std::optional<std::string> take_words(std::vector<std::string> words) override {
        options_.words = std::move(words);
        return std::nullopt;
    }
    int run() override { return complete(options_); }
};

}  // namespace

std::unique_ptr<Verb> completion_verb() { return std::make_unique<CompletionVerb>(); }
std::unique_ptr<Verb> complete_verb() { return std::make_unique<CompleteVerb>(); }

}  // namespace muster::cli
