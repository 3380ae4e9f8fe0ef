#include "manifest/internal/agent_command.h"

#include <cstddef>
#include <string_view>

namespace muster::manifest {
namespace {

/// How many words call torchrun.
std::size_t launcher_words(const json::array& words) {
    const auto text = [&](std::size_t i) {
        return i < words.size() ? std::string_view(words[i].get_string()) : std::string_view();
    };
    const std::string_view program = text(0).substr(text(0).rfind('/') + 1);
    if (program == "torchrun" || program == "dlrover-run" || program == "muster-run") return 1;
    if (!program.starts_with("python")) return 0;
    const std::size_t flag = text(1) == "-u" ? 2 : 1;
    return text(flag) == "-m" && text(flag + 1) == "torch.distributed.run" ? flag + 2 : 0;
}

/// `python [-u] SCRIPT ...` and `python [-u] -m MODULE ...`, in the form for an agent; empty if the
/// interpreter gets something else, or it is another program.
json::array python_words(const json::array& words) {
    const auto text = [&](std::size_t i) {
        return i < words.size() ? std::string_view(words[i].get_string()) : std::string_view();
    };
    const std::string_view program = text(0).substr(text(0).rfind('/') + 1);
    const std::size_t first = text(1) == "-u" ? 2 : 1;  // an agent always adds it
    const std::size_t script = text(first) == "-m" ? first + 1 : first;
    const std::string_view name = text(script);
    if (!program.starts_with("python") || name.empty() || name.starts_with('-')) return {};
    return json::array(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
}

}  // namespace

std::optional<json::array> agent_command(const json::object& container, const AgentWords& agent) {
    json::array words;
    for (const std::string_view part : {"command", "args"}) {
        const json::value* list = container.if_contains(part);
        if (list == nullptr || list->is_null()) continue;
        if (!list->is_array()) return std::nullopt;
        for (const json::value& word : list->get_array()) {
            if (!word.is_string()) return std::nullopt;
            words.push_back(word);
        }
    }
    if (words.empty()) return std::nullopt;
    const std::size_t replaced = launcher_words(words);
    json::array command(agent.words.begin(), agent.words.end());
    if (replaced == 0 && agent.warm) {
        if (const json::array script = python_words(words); !script.empty()) {
            json::array started = {"env", "PYTHON_EXEC=" + std::string(words[0].get_string())};
            started.insert(started.end(), command.begin(), command.end());
            for (const char* word : {"--warm", "--nproc-per-node=1"}) started.emplace_back(word);
            started.insert(started.end(), script.begin(), script.end());
            return started;
        }
    }
    if (replaced > 0 && agent.warm) command.emplace_back("--warm");
    // A PyTorchJob says "auto" to torchrun; this program is one process in each pod.
    if (replaced == 0)
        for (const char* word : {"--nproc-per-node=1", "--no-python"}) command.emplace_back(word);
    command.insert(command.end(), words.begin() + static_cast<std::ptrdiff_t>(replaced),
                   words.end());
    return command;
}

}  // namespace muster::manifest
