#include "jobs/agent_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "jobs/internal/agents/launcher_call.h"
#include "kube/values/json_access.h"

namespace muster::jobs {
namespace {

using Argv = std::vector<std::string>;

/// `python [-u] SCRIPT ...` and `python [-u] -m MODULE ...`, in the form for an agent; empty if the
/// interpreter gets something else, or it is another program.
Argv python_words(const Argv& words) {
    const auto text = [&](std::size_t i) {
        return i < words.size() ? std::string_view(words[i]) : std::string_view();
    };
    const std::string_view program = text(0).substr(text(0).rfind('/') + 1);
    const std::size_t first = text(1) == "-u" ? 2 : 1;  // an agent always adds it
    const std::size_t script = text(first) == "-m" ? first + 1 : first;
    const std::string_view name = text(script);
    if (!program.starts_with("python") || name.empty() || name.starts_with('-')) return {};
    return {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()};
}

/// Of a container; nothing if there are none, or they are malformed.
Argv words_of(const json::object& container) {
    Argv words;
    for (const std::string_view part : {"command", "args"}) {
        const json::value* list = container.if_contains(part);
        if (list == nullptr || list->is_null()) continue;
        if (!list->is_array()) return {};
        for (const json::value& word : list->get_array()) {
            if (!word.is_string()) return {};
            words.emplace_back(word.get_string());
        }
    }
    return words;
}

/// The agent starts the program once. A PyTorchJob says "auto" to torchrun; this program is one
/// process in each pod.
Argv started_once(const Argv& words, const AgentWords& agent) {
    Argv made;
    Argv script;
    if (agent.warm) script = python_words(words);
    if (!script.empty()) made = {"env", "PYTHON_EXEC=" + words[0]};
    made.insert(made.end(), agent.words.begin(), agent.words.end());
    if (!script.empty()) made.emplace_back("--warm");
    made.emplace_back("--nproc-per-node=1");
    if (needs_literal_args(words)) made.emplace_back(kLiteralArgs);
    if (script.empty()) made.emplace_back("--no-python");
    const Argv& rest = script.empty() ? words : script;
    made.insert(made.end(), rest.begin(), rest.end());
    return made;
}

/// The agent in the place of the launcher, which names the interpreter of its workers.
Argv in_place(const Argv& words, const LauncherCall& call, const AgentWords& agent) {
    const auto launcher = words.begin() + static_cast<std::ptrdiff_t>(call.index);
    Argv made(words.begin(), launcher);
    made.insert(made.end(), agent.in_place_of.begin(), agent.in_place_of.end());
    made.push_back(*launcher);
    if (!call.module.empty()) {
        made.emplace_back("-m");
        made.emplace_back(call.module.substr(call.module.rfind(' ') + 1));
    }
    if (agent.warm) made.emplace_back("--warm");
    made.insert(made.end(), launcher + static_cast<std::ptrdiff_t>(call.count), words.end());
    return made;
}

/// The agent's words are put between quotes as well as outside of them.
Result<void> check_plain(const std::string& agent) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,@ ";
    if (agent.find_first_not_of(kPlain) == std::string::npos) return {};
    return Error(
        Code::kInvalid,
        fmt::format("a shell would not read \"{}\" as it is; put muster where the path has "
                    "only letters, digits and _ - . / in it",
                    agent));
}

/// A script that calls torchrun would start torch's own in the pod.
Result<void> check_script(const json::object& container, const Argv& words,
                          const AgentWords& agent) {
    const std::string script = script_of(words);
    if (script.empty() || !agent.text_of) return {};
    std::string path = script;
    const std::string_view folder = kube::string_at(container, "workingDir");
    if (!folder.empty() && !script.starts_with('/')) path = fmt::format("{}/{}", folder, script);
    const std::string text = agent.text_of(path);
    const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
    // Another program's file may look like anything.
    if (script == words[0] && !(first.starts_with("#!") && first.find("sh") != first.npos))
        return {};
    const auto called = with_agents(text, "", "");
    if (!called || !*called) return {};
    return Error(Code::kInvalid,
                 fmt::format("{} calls torchrun, which in the pod would be torch's own; write what "
                             "it does into the command, as in [bash, -c, \"cd /work; torchrun "
                             "...\"], where muster-run takes its place",
                             script));
}

/// in_place() in the text of a shell; nothing if it calls no launcher.
Result<std::optional<Argv>> in_text(const Argv& words, const LauncherCall& call,
                                    const AgentWords& agent) {
    const std::string before = fmt::format("{}", fmt::join(agent.in_place_of, " "));
    TRY(auto text, with_agents(words[call.index], before, agent.warm ? " --warm" : ""));
    if (!text) return std::optional<Argv>();
    TRY_VOID(check_plain(before));
    Argv made = words;
    made[call.index] = *std::move(text);
    return std::optional<Argv>(std::move(made));
}

Result<std::optional<Argv>> in_place_of_launcher(const Argv& words, const AgentWords& agent) {
    TRY(const auto call, find_launcher_call(words));
    if (!call) return std::optional<Argv>();
    if (call->kind == LauncherCall::Kind::kText) return in_text(words, *call, agent);
    return std::optional<Argv>(in_place(words, *call, agent));
}

}  // namespace

bool starts_python(const std::vector<std::string>& words) {
    return !words.empty() && !python_words(words).empty();
}

bool needs_literal_args(const std::vector<std::string>& words) {
    return std::ranges::any_of(words,
                               [](const std::string& word) { return word.find('$') != word.npos; });
}

Result<std::optional<json::array>> agent_in_place(const json::object& container,
                                                  const AgentWords& agent) {
    const Argv words = words_of(container);
    if (words.empty()) return std::optional<json::array>();
    TRY(const auto made, in_place_of_launcher(words, agent));
    if (made) return std::optional<json::array>(json::array(made->begin(), made->end()));
    TRY_VOID(check_script(container, words, agent));
    return std::optional<json::array>();
}

Result<std::optional<json::array>> agent_command(const json::object& container,
                                                 const AgentWords& agent) {
    TRY(auto made, agent_in_place(container, agent));
    const Argv words = words_of(container);
    if (made || words.empty()) return made;
    const Argv once = started_once(words, agent);
    return std::optional<json::array>(json::array(once.begin(), once.end()));
}

}  // namespace muster::jobs
