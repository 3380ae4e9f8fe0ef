#include "apiserver/internal/admission/known_rights.h"

#include "apiserver/authentication/service_account_name.h"
#include "apiserver/authorization/authorization.h"

namespace muster::apiserver {
namespace {

User account_user(const ServiceAccountName& account) {
    return {.name = account.user_name(), .uid = {}, .groups = account.groups()};
}

Action action_of(const cel::AuthorizationQuestion& question) {
    if (!question.path.empty()) return {.verb = question.verb, .path = question.path};
    return {.verb = question.verb,
            .group = question.group,
            .resource = question.resource,
            .subresource = question.subresource,
            .namespace_ = question.namespace_,
            .name = question.name};
}

}  // namespace

std::optional<cel::AuthorizationAnswer> KnownRights::answer(
    const cel::AuthorizationQuestion& question) {
    if (const auto it = answers_.find(question); it != answers_.end()) return it->second;
    open_.insert(question);
    return std::nullopt;
}

void KnownRights::answer_open_questions(const WatchCache& cache, const User& sender) {
    for (const cel::AuthorizationQuestion& question : open_) {
        const bool account = !question.account.empty();
        Decision decision = decide(
            cache, account ? account_user({question.account_namespace, question.account}) : sender,
            action_of(question));
        answers_[question] = {
            .allowed = decision.allowed, .reason = std::move(decision.reason), .error = {}};
    }
    open_.clear();
}

}  // namespace muster::apiserver
