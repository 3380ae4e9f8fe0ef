#include "jobs/internal/agents/agent_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

#include "base/shell_word.h"
#include "jobs/internal/agents/elastic_annotation.h"
#include "jobs/internal/text.h"
#include "kube/values/base64.h"
#include "net/tls/certificates.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kTokenVariable = "MUSTER_TOKEN";
constexpr std::string_view kTokenKey = "token";
/// As a command names the agent; the second is followed by the launcher whose place it takes.
constexpr std::array<std::string_view, 2> kAgents{"muster-run", "muster-run-for"};
/// What ends a word of a shell, or a part of a path.
constexpr std::string_view kBeforeAgent = "/ \t\n;&|()'\"`";
constexpr std::string_view kBehindAgent = " \t\n;&|()'\"`";

std::string agent_secret_name(const Job& job) {
    return fmt::format("{}-muster-token", job.metadata.name);
}

/// Whether a word of a command is the name or a path of an agent, or a shell's text that calls one.
bool names_agent(std::string_view word) {
    for (std::size_t at = word.find(kAgents[0]); at != word.npos;
         at = word.find(kAgents[0], at + 1)) {
        if (at > 0 && kBeforeAgent.find(word[at - 1]) == kBeforeAgent.npos) continue;
        const std::size_t end = std::min(word.size(), word.find_first_of(kBehindAgent, at));
        if (std::ranges::find(kAgents, word.substr(at, end - at)) != kAgents.end()) return true;
    }
    return false;
}

/// Whether a command calls an agent. The texts of other programs than shells may say anything.
bool calls_agent(const kube::Container& container) {
    bool in_shell = false;
    for (const auto* const words : {&container.command, &container.args})
        for (const std::string_view word : *words) {
            const bool is_text = word.find_first_of(kBehindAgent) != word.npos;
            if ((in_shell || !is_text) && names_agent(word)) return true;
            in_shell = in_shell || is_shell(word);
        }
    return false;
}

const kube::EnvVar* variable_of(const kube::Container& container, std::string_view name) {
    const auto found = std::ranges::find(container.env, name, &kube::EnvVar::name);
    return found == container.env.end() ? nullptr : &*found;
}

bool has_own_token(const kube::Container& container) {
    return variable_of(container, kTokenVariable) != nullptr || has_token_file(container);
}

bool is_annotated_agent(const Job& job) {
    const auto found = job.metadata.annotations.find(std::string(annotations::kAgent));
    return found != job.metadata.annotations.end() && found->second == annotations::kAgentOurs;
}

bool meets_at_master(const Job& job) {
    return job.kind->meets_at_master && job.kind->meets_at_master(job);
}

bool gets_token(const Job& job, const kube::PodSpec& spec, const kube::Container& container) {
    if (has_own_token(container)) return false;
    const bool is_agent = is_annotated_agent(job) || gets_agents(job) || meets_at_master(job);
    if (is_agent && &container == default_container(*job.kind, spec)) return true;
    return calls_agent(container);
}

Result<void> make_agent_token(json::object& content) {
    TRY(const std::string token, net::random_token());
    content["data"] = {{kTokenKey, kube::base64_encode(token)}};
    return {};
}

}  // namespace

std::optional<kube::EnvVar> own_token(const kube::Container& container) {
    const kube::EnvVar* const variable = variable_of(container, kTokenVariable);
    return variable == nullptr ? std::nullopt : std::optional(*variable);
}

bool has_token_file(const kube::Container& container) {
    const auto gives_file = [](std::string_view word) {
        return word.find("--token-file") != word.npos || word.find("--token_file") != word.npos;
    };
    return variable_of(container, "MUSTER_TOKEN_FILE") != nullptr ||
           std::ranges::any_of(container.command, gives_file) ||
           std::ranges::any_of(container.args, gives_file);
}

bool has_agent_token(const Job& job) {
    if (!job.platform.agent_tokens) return false;
    return std::ranges::any_of(job.replicas | std::views::values, [&](const ReplicaSpec& replica) {
        const kube::PodSpec& spec = replica.template_.spec;
        return std::ranges::any_of(spec.containers, [&](const kube::Container& container) {
            return gets_token(job, spec, container);
        });
    });
}

/// Pods that were made without a token, by an operator that gave none, know each other without one:
/// a token that only their successors had would part them.
std::vector<OwnedObject> agent_token(const Job& job, const std::vector<SeenPod>&) {
    if (!has_agent_token(job)) return {};
    return {OwnedObject{.type = kube::types::kSecrets,
                        .name = agent_secret_name(job),
                        .labels = {},
                        .content = {{"type", "Opaque"}, {"immutable", true}},
                        .kept = {},
                        .made_once = {fmt::format("data.{}", kTokenKey)},
                        .make = make_agent_token,
                        .before_pods_only = true}};
}

void add_agent_token(const Job& job, const ReplicaId&, kube::Pod& pod) {
    if (!job.platform.agent_tokens) return;
    for (kube::Container& container : pod.spec.containers) {
        if (!gets_token(job, pod.spec, container)) continue;
        kube::EnvVar variable{.name = std::string(kTokenVariable), .value = {}, .value_from = {}};
        variable.value_from.emplace().secret_key_ref = kube::KeySelector{
            .name = agent_secret_name(job), .key = std::string(kTokenKey), .optional = true};
        container.env.push_back(std::move(variable));
    }
}

std::optional<Cause> ineffective_agent(const Job& job) {
    const auto found = job.metadata.annotations.find(std::string(annotations::kAgent));
    if (found == job.metadata.annotations.end() || found->second == annotations::kAgentOurs ||
        found->second == annotations::kAgentOfImage)
        return std::nullopt;
    return ineffective(
        fmt::format("metadata.annotations[{}]", annotations::kAgent),
        fmt::format("only \"{}\" and \"{}\" have a meaning, not \"{}\"", annotations::kAgentOurs,
                    annotations::kAgentOfImage, found->second));
}

}  // namespace muster::jobs
