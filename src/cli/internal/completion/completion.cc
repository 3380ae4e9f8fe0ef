#include "cli/internal/completion/completion.h"

#include <algorithm>
#include <array>

namespace muster::cli {

namespace {

using Source = Completion::Source;

/// Flags with few possible values. Verb "": every verb with the flag.
struct Values {
    std::string_view verb;
    std::string_view flag;
    std::vector<std::string> words;
};

const std::vector<Values>& flag_values() {
    static const std::vector<Values> values = {
        {"get", "--output", {"wide", "json", "yaml", "name", "jsonpath="}},
        {"run", "--output", {"json", "yaml"}},
        {"convert", "--output", {"json", "yaml"}},
        {"explain", "--output", {"json", "yaml"}},
        {"simulate", "--output", {"text", "json"}},
        {"manifests", "--layout", {"helm", "kustomize"}},
        {"", "--sandbox", {"auto", "namespaces", "none"}},
        {"", "--fit", {"scale", "strict"}},
        {"", "--files", {"shared", "private"}},
        {"", "--cascade", {"background", "foreground", "orphan"}},
        {"wait", "--for", {"condition=", "delete", "jsonpath="}},
    };
    return values;
}

constexpr std::array<std::string_view, 4> kObjectVerbs = {"get", "describe", "delete", "wait"};

const KnownFlag* find_flag(const KnownVerb& verb, std::string_view word) {
    for (const KnownFlag& flag : verb.flags)
        if (std::ranges::find(flag.names, word) != flag.names.end()) return &flag;
    return nullptr;
}

bool is_called(const KnownFlag& flag, std::string_view name) {
    return std::ranges::find(flag.names, name) != flag.names.end();
}

/// The value of a flag.
void complete_value(const KnownVerb& verb, const KnownFlag& flag, Completion& completion) {
    if (is_called(flag, "--namespace")) completion.source = Source::kNamespaces;
    if (is_called(flag, "--context")) completion.source = Source::kContexts;
    if (verb.name == "events" && is_called(flag, "--for")) {
        completion.source = Source::kKinds;
        const std::size_t slash = completion.typed.find('/');
        if (slash == std::string::npos) return;
        completion.source = Source::kNames;
        completion.kind = completion.typed.substr(0, slash);
        completion.before += completion.typed.substr(0, slash + 1);
        completion.typed.erase(0, slash + 1);
        return;
    }
    for (const Values& values : flag_values())
        if ((values.verb.empty() || values.verb == verb.name) && is_called(flag, values.flag))
            completion.words = values.words;
}

/// A word that is neither a flag nor the value of one.
void complete_word(const KnownVerb& verb, const std::vector<KnownVerb>& verbs,
                   const std::vector<std::string>& before, Completion& completion) {
    if (verb.name == "completion" && before.empty()) completion.words = {"bash", "zsh", "fish"};
    if (verb.name == "help" && before.empty())
        for (const KnownVerb& known : verbs) completion.words.push_back(known.name);
    if (verb.name == "top" && before.empty()) completion.words = {"nodes", "pods"};
    const bool of_top = verb.name == "top" && !before.empty();
    const bool of_objects = std::ranges::find(kObjectVerbs, verb.name) != kObjectVerbs.end();
    const std::size_t slash = completion.typed.find('/');
    if ((of_objects || verb.name == "logs") && slash != std::string::npos) {
        completion.source = Source::kNames;
        completion.kind = completion.typed.substr(0, slash);
        completion.before = completion.typed.substr(0, slash + 1);
        completion.typed.erase(0, slash + 1);
    } else if (verb.name == "logs" && before.empty()) {
        completion.source = Source::kJobs;
    } else if (of_objects && (before.empty() || before.front().find('/') != std::string::npos)) {
        completion.source = Source::kKinds;
    } else if (of_objects || of_top) {
        completion.source = Source::kNames;
        completion.kind = before.front();
    }
}

void note_server(const KnownFlag& flag, const std::string& value, ServerOptions& server) {
    if (is_called(flag, "--namespace")) server.namespace_ = value;
    if (is_called(flag, "--context")) server.context = value;
    if (is_called(flag, "--kubeconfig")) server.kubeconfig = value;
}

}  // namespace

Completion complete_line(const std::vector<KnownVerb>& verbs,
                         const std::vector<std::string>& written) {
    Completion completion;
    if (written.empty()) return completion;
    std::vector<std::string> line;
    for (std::size_t i = 0; i < written.size(); ++i)
        if (written[i] != "=" || i + 1 == written.size()) line.push_back(written[i]);
    if (line.back() == "=") line.back().clear();
    completion.typed = line.back();
    if (line.size() == 1) {
        for (const KnownVerb& verb : verbs) completion.words.push_back(verb.name);
        return completion;
    }
    const auto verb = std::ranges::find(verbs, line.front(), &KnownVerb::name);
    if (verb == verbs.end()) return completion;
    std::vector<std::string> words;
    const KnownFlag* open = nullptr;  // a flag whose value comes next
    for (std::size_t i = 1; i + 1 < line.size(); ++i) {
        const std::string& word = line[i];
        if (open != nullptr) {
            note_server(*std::exchange(open, nullptr), word, completion.server);
            continue;
        }
        if (!word.starts_with('-')) {
            words.push_back(word);
            continue;
        }
        const std::size_t equal = word.find('=');
        const KnownFlag* flag = find_flag(*verb, word.substr(0, equal));
        if (flag == nullptr || !flag->takes_value) continue;
        if (equal == word.npos)
            open = flag;
        else
            note_server(*flag, word.substr(equal + 1), completion.server);
    }
    const std::size_t equal = completion.typed.find('=');
    if (open != nullptr) {
        complete_value(*verb, *open, completion);
    } else if (completion.typed.starts_with("--") && equal != std::string::npos) {
        const KnownFlag* flag = find_flag(*verb, completion.typed.substr(0, equal));
        completion.before = completion.typed.substr(0, equal + 1);
        completion.typed.erase(0, equal + 1);
        if (flag != nullptr) complete_value(*verb, *flag, completion);
    } else if (completion.typed.starts_with('-')) {
        for (const KnownFlag& flag : verb->flags)
            completion.words.insert(completion.words.end(), flag.names.begin(), flag.names.end());
    } else {
        complete_word(*verb, verbs, words, completion);
    }
    return completion;
}

std::vector<std::string> fitting(const Completion& completion,
                                 const std::vector<std::string>& candidates) {
    std::vector<std::string> words;
    for (const std::string& candidate : candidates)
        if (candidate.starts_with(completion.typed)) words.push_back(completion.before + candidate);
    std::ranges::sort(words);
    const auto again = std::ranges::unique(words);
    words.erase(again.begin(), again.end());
    return words;
}

}  // namespace muster::cli
