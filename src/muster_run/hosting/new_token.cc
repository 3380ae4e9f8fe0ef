#include "muster_run/hosting/new_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/shell_word.h"
#include "base/text_files.h"
#include "muster_run/hosting/credentials.h"
#include "net/tls/certificates.h"

namespace muster::run {
namespace {

constexpr std::size_t kNewTokenBytes = 16;

Result<std::vector<std::string>> words_of_this_process() {
    TRY(const std::string text, read_text("/proc/self/cmdline"));
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1)
        words.push_back(text.substr(at, text.find('\0', at) - at));
    return words;
}

/// "--node-rank" for "--node_rank=1", and for "--node-rank".
std::string flag_name(std::string_view word) {
    std::string name(word.substr(0, word.find('=')));
    std::ranges::replace(name, '_', '-');
    return name;
}

/// Without these flags, each of which has a value, in the same word or in the next.
std::vector<std::string> without_flags(std::span<const std::string> words,
                                       std::span<const std::string_view> names) {
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (std::ranges::find(names, flag_name(words[at])) == names.end())
            kept.push_back(words[at]);
        else if (words[at].find('=') == std::string::npos)
            ++at;
    }
    return kept;
}

}  // namespace

std::string command_for_others(const std::vector<std::string>& words,
                               const launch::LaunchFlags& flags, std::string_view token) {
    static constexpr std::array<std::string_view, 3> kOwn{"--token-file", "--node-rank",
                                                          "--local-addr"};
    // What follows the flags: the script, and what belongs to it.
    const std::size_t behind = std::min(words.size(), flags.arguments.size() + 1);
    const std::span<const std::string> all(words);
    std::vector<std::string> line = without_flags(all.first(words.size() - behind), kOwn);
    line.insert(line.end(), words.end() - static_cast<std::ptrdiff_t>(behind), words.end());
    std::string text;
    // The variable may be set there as it is here.
    if (!flags.get(launch::Flag::kTokenFile).by_flag()) text = "MUSTER_TOKEN_FILE= ";
    text += fmt::format("MUSTER_TOKEN={}", token);
    for (const std::string& word : line) text += " " + shell_word(word);
    return text;
}

Result<std::string> hand_out_new_token(const launch::LaunchFlags& flags, launch::LaunchPlan& plan,
                                       launch::Variables& variables) {
    TRY(const std::string token, net::random_token(kNewTokenBytes));
    plan.token_file.clear();
    variables = without_token(std::move(variables));
    variables.emplace_back("MUSTER_TOKEN", token);
    if (plan.nodes.most <= 1 || plan.rendezvous.where == launch::Rendezvous::Where::kHere)
        return std::string();
    TRY(const std::vector<std::string> words, words_of_this_process());
    std::string own;
    for (const launch::Flag flag : {launch::Flag::kNodeRank, launch::Flag::kLocalAddr})
        if (const launch::Given given = flags.get(flag); given.by_flag())
            own += fmt::format("{} {}", own.empty() ? ", before the script with its own" : " and",
                               given.flag);
    return fmt::format("the token of this job is new; on each other node run{}:\n  {}", own,
                       command_for_others(words, flags, token));
}

}  // namespace muster::run
