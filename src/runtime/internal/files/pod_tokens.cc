#include "runtime/internal/files/pod_tokens.h"

#include <algorithm>

#include "kube/objects/codec_impl.h"
#include "kube/values/time.h"

namespace muster::runtime {

namespace {

constexpr Duration kMostUse = std::chrono::hours(24);

struct GrantedToken {
    std::string token;
    std::string expiration_timestamp;
};
BOOST_DESCRIBE_STRUCT(GrantedToken, (), (token, expiration_timestamp))

struct TokenAnswer {
    GrantedToken status;
};
BOOST_DESCRIBE_STRUCT(TokenAnswer, (), (status))

json::value request_for(const TokenWanted& wanted, const kube::Pod& pod) {
    json::object spec{{"expirationSeconds", wanted.seconds},
                      {"boundObjectRef", json::object{{"apiVersion", "v1"},
                                                      {"kind", "Pod"},
                                                      {"name", pod.metadata.name},
                                                      {"uid", pod.metadata.uid}}}};
    if (!wanted.audience.empty()) spec["audiences"] = json::array{wanted.audience};
    return json::object{{"apiVersion", "authentication.k8s.io/v1"},
                        {"kind", "TokenRequest"},
                        {"spec", std::move(spec)}};
}

}  // namespace

Duration use_of_token(Duration life) { return std::min(life / 5 * 4, kMostUse); }

Task<Result<PodTokens::Token>> PodTokens::ask(std::shared_ptr<const kube::Pod> pod,
                                              TokenWanted wanted) {
    const std::string& named = pod->spec.service_account_name;
    const WallTime granted = clock_.wall_now();
    CO_TRY(const kube::Written written,
           co_await client_.create_subresource(
               kube::types::kServiceAccounts, pod->metadata.namespace_,
               named.empty() ? "default" : named, "token", request_for(wanted, *pod)));
    CO_TRY(const auto answer, kube::decode<TokenAnswer>(*written.object));
    const auto expires = kube::parse_time(answer.status.expiration_timestamp);
    if (answer.status.token.empty() || !expires)
        co_return Error(Code::kInternal, "the API granted a token without a text or an end");
    co_return Token{.text = answer.status.token,
                    .granted = granted,
                    .due = granted + use_of_token(*expires - granted)};
}

Task<Result<void>> PodTokens::fetch(std::shared_ptr<const kube::Pod> pod) {
    CO_TRY(const std::set<TokenWanted> wanted, tokens_wanted(*pod));
    for (const TokenWanted& one : wanted) {
        const auto have = tokens_.find(one);
        if (have != tokens_.end() && !have->second.is_due(clock_.wall_now())) continue;
        Result<Token> granted = co_await ask(pod, one);
        if (!granted) {
            granted.error().prefix(fmt::format("failed to fetch token of service account {}",
                                               pod->spec.service_account_name));
            co_return std::move(granted.error());
        }
        tokens_.insert_or_assign(one, *std::move(granted));
    }
    co_return Result<void>();
}

std::map<TokenWanted, std::string> PodTokens::texts() const {
    std::map<TokenWanted, std::string> texts;
    for (const auto& [wanted, token] : tokens_) texts.emplace(wanted, token.text);
    return texts;
}

std::optional<WallTime> PodTokens::due() const {
    std::optional<WallTime> first;
    for (const auto& [wanted, token] : tokens_)
        if (!first || token.due < *first) first = token.due;
    return first;
}

bool PodTokens::is_due() const {
    return std::ranges::any_of(
        tokens_, [now = clock_.wall_now()](const auto& entry) { return entry.second.is_due(now); });
}

}  // namespace muster::runtime
