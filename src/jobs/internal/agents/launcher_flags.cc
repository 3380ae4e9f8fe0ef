#include "jobs/internal/agents/launcher_flags.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/parse_number.h"
#include "jobs/internal/agents/launcher_call.h"
#include "jobs/internal/agents/shell_words.h"

namespace muster::jobs {
namespace {

constexpr std::array<std::string_view, 1> kNodes{"--nnodes"};
constexpr std::array<std::string_view, 2> kConf{"--rdzv-conf", "--rdzv_conf"};
constexpr std::array<std::string_view, 2> kJoinKeys{"join_timeout", "timeout"};
/// As a shell and as Kubernetes replace them.
constexpr std::array<std::string_view, 6> kNumberOfNodes{
    "$NODE_NUM", "${NODE_NUM}", "$(NODE_NUM)", "$WORKER_NUM", "${WORKER_NUM}", "$(WORKER_NUM)"};

template <std::size_t kSize>
bool is_among(const std::array<std::string_view, kSize>& names, std::string_view word) {
    return std::ranges::find(names, word) != names.end();
}

/// Whether the words that follow are of the launcher's program.
bool begins_program(std::string_view word) {
    return word.ends_with(".py") || word == "-m" || word == "--module";
}

/// The words after the launcher; empty if none is called.
std::vector<std::string> words_of_launcher(const std::vector<std::string>& words);

/// The same of the first command of a shell's text that calls one.
std::vector<std::string> words_in_text(std::string_view text) {
    if (!names_launcher(text)) return {};
    const std::optional<std::vector<ShellWord>> words = read_shell_words(text);
    if (!words) return {};
    std::vector<std::string> command;
    for (std::size_t at = 0; at < words->size(); ++at) {
        command.push_back((*words)[at].value);
        if (at + 1 < words->size() && !(*words)[at + 1].first) continue;
        if (std::vector<std::string> found = words_of_launcher(command); !found.empty())
            return found;
        command.clear();
    }
    return {};
}

std::vector<std::string> words_of_launcher(const std::vector<std::string>& words) {
    const auto found = find_launcher_call(words);
    if (!found || !*found) return {};
    const LauncherCall& call = **found;
    if (call.kind == LauncherCall::Kind::kText) return words_in_text(words[call.index]);
    return {words.begin() + static_cast<std::ptrdiff_t>(call.index + call.count), words.end()};
}

/// The value of a flag, wherever it stands before the program; nothing if it is not there.
template <std::size_t kSize>
std::optional<std::string_view> value_of(std::span<const std::string> words,
                                         const std::array<std::string_view, kSize>& names) {
    for (std::size_t at = 0; at < words.size() && !begins_program(words[at]); ++at) {
        const std::string_view word = words[at];
        const std::size_t equals = word.find('=');
        if (!is_among(names, word.substr(0, equals))) continue;
        if (equals != std::string_view::npos) return word.substr(equals + 1);
        if (at + 1 < words.size()) return words[at + 1];
    }
    return std::nullopt;
}

/// "3", "2:4", "2:$NODE_NUM".
std::optional<std::int32_t> fewest_of(std::string_view range, std::int32_t nodes) {
    const std::string_view fewest = range.substr(0, range.find(':'));
    if (is_among(kNumberOfNodes, fewest)) return nodes;
    const std::optional<std::int32_t> number = parse_number<std::int32_t>(fewest);
    if (!number || *number < 1) return std::nullopt;
    return number;
}

/// Of "join_timeout=600,is_host=1".
std::optional<std::chrono::seconds> join_timeout_of(std::string_view conf) {
    while (!conf.empty()) {
        const std::string_view entry = conf.substr(0, conf.find(','));
        conf.remove_prefix(std::min(entry.size() + 1, conf.size()));
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos || !is_among(kJoinKeys, entry.substr(0, equals)))
            continue;
        if (const auto seconds = parse_number<std::int32_t>(entry.substr(equals + 1)))
            return std::chrono::seconds(std::max(*seconds, 0));
    }
    return std::nullopt;
}

}  // namespace

LauncherFlags read_launcher_flags(const std::vector<std::string>& command, std::int32_t nodes) {
    const std::vector<std::string> words = words_of_launcher(command);
    LauncherFlags flags;
    if (const auto range = value_of(words, kNodes)) flags.fewest_nodes = fewest_of(*range, nodes);
    if (const auto conf = value_of(words, kConf)) flags.join_timeout = join_timeout_of(*conf);
    return flags;
}

}  // namespace muster::jobs
