#include "cli/internal/script/script_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/internal/script/start_command.h"

namespace muster::cli {

namespace {

using Words = std::vector<std::string>;

/// What other launchers call our flags.
constexpr auto kOthersNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"--nproc_per_node", "--nproc-per-node"},
    {"--processes", "--nproc-per-node"},
    {"--slots-per-worker", "--nproc-per-node"},
    {"--nnodes", "--workers"},
    {"--num-nodes", "--workers"},
    {"--num_nodes", "--workers"},
    {"--num-workers", "--workers"},
    {"--num_workers", "--workers"},
    {"--num_machines", "--workers"},
    {"--max_restarts", "--max-restarts"},
    {"--restarts", "--max-restarts"},
    {"--num-gpus", "--gpus"},
    {"--num-cpus", "--cpus"},
    {"--ps", "--servers"},
});

bool all_in(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}
bool is_process_count(std::string_view text) {
    return text == "auto" || text == "gpu" || text == "cpu" || all_in(text, "0123456789");
}
bool is_range(std::string_view text) {
    return all_in(text, "0123456789:") && text.find(':') != std::string_view::npos;
}

/// The flag in our words; nullopt: it has them already. `next`: the word after it.
std::optional<std::string> in_our_words(const std::string& word, const std::string& next) {
    const std::size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals);
    const auto* const other = std::ranges::find(
        kOthersNames, name, &std::pair<std::string_view, std::string_view>::first);
    if (other != kOthersNames.end()) return std::string(other->second) + value;
    if (name == "-np") return "--nproc-per-node" + value;
    if (name == "-n" && is_process_count(next)) return "--nproc-per-node";
    if (word.starts_with("-n") && is_process_count(std::string_view(word).substr(2)))
        return "--nproc-per-node=" + word.substr(2);
    if (name == "--elastic" && value.size() > 1 && is_range(std::string_view(value).substr(1)))
        return "--workers" + value;
    if (name == "--elastic" && value.empty() && is_range(next)) return "--workers";
    return std::nullopt;
}

bool names_script(const std::string& word, const LineKnowledge& known) {
    return is_python_script(word) || word.ends_with(".sh") || known.is_program(word);
}

bool names_manifest(std::string_view word) {
    return word == "-" || word.ends_with(".yaml") || word.ends_with(".yml") ||
           word.ends_with(".json");
}

}  // namespace

ScriptLine read_script_line(const Words& words, const LineKnowledge& known) {
    ScriptLine line;
    bool has_manifest = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto rest = [&](std::size_t from) {
            return Words(words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
        };
        if (word == "--") {
            (has_manifest ? line.program_arguments : line.command) = rest(i + 1);
            return line;
        }
        const bool module = word == "-m" || word == "--module";
        const bool is_flag = word.starts_with('-') && word != "-";
        if (!has_manifest &&
            (module || (!is_flag && !names_manifest(word) && names_script(word, known)))) {
            line.command = rest(i);
            if (module) line.command.front() = "-m";
            return line;
        }
        if (!is_flag) {
            has_manifest = true;
            line.flags.push_back(word);
            continue;
        }
        const std::string next = i + 1 < words.size() ? words[i + 1] : "";
        line.flags.push_back(in_our_words(word, next).value_or(word));
        const std::string& flag = line.flags.back();
        if (flag == "-f" || flag == "--filename") has_manifest = true;
        if (flag.find('=') == std::string::npos && known.takes_value(flag) && i + 1 < words.size())
            line.flags.push_back(words[++i]);
    }
    return line;
}

}  // namespace muster::cli
