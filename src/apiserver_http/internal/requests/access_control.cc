#include "apiserver_http/internal/requests/access_control.h"

#include "apiserver/authentication/authentication.h"
#include "apiserver/authorization/authorization.h"
#include "apiserver/authorization/escalation.h"
#include "apiserver/authorization/ownership.h"
#include "apiserver_http/internal/wire/impersonation.h"
#include "base/log.h"

namespace muster::apiserver_http {

Result<apiserver::TokenOwner> AccessControl::owner_of(
    std::string_view token, const std::vector<std::string>& audiences) const {
    // Tokens that are known from the start are valid for every audience.
    if (std::optional<apiserver::User> known = apiserver::user_of_token(options_, token))
        return apiserver::TokenOwner{*std::move(known), audiences};
    return account_of(token, audiences);
}

apiserver::StatusResult<void> AccessControl::authorize(const apiserver::User& user,
                                                       const apiserver::Action& action) const {
    if (options_.everything_allowed) return {};
    return apiserver::authorize(handler_.cache(), user, action);
}

Result<apiserver::TokenOwner> AccessControl::account_of(
    std::string_view token, const std::vector<std::string>& audiences) const {
    if (handler_.signing_key() == nullptr)
        return Error(Code::kUnauthorized, "the server has no accounts with tokens");
    return apiserver::authenticate_account(handler_.cache(), *handler_.signing_key(),
                                           handler_.token_rules(), token, audiences,
                                           handler_.clock().wall_now());
}

Result<apiserver::User> AccessControl::sender_of(const net::HttpRequest& request) const {
    const apiserver::TokenCheck check_token =
        [this](std::string_view token) -> Result<apiserver::User> {
        Result<apiserver::TokenOwner> owner = account_of(token, {});
        if (owner) return std::move(owner->user);
        log::debug("A bearer token was refused", {{"why", owner.error().message()}});
        return owner.error();
    };
    return apiserver::authenticate(
        options_, request.headers.find("Authorization").value_or(std::string_view()),
        request.client_certificate, check_token);
}

apiserver::StatusResult<void> AccessControl::identify(const net::HttpRequest& request,
                                                      RequestRecord& record) const {
    Result<apiserver::User> user = sender_of(request);
    record.authenticated = user.has_value();
    if (!user) return apiserver::StatusError{user.error(), kube::StatusDetails{}, false, {}};
    record.user = *std::move(user);
    TRY(std::optional<Impersonation> wanted, read_impersonation(request.headers));
    if (!wanted) return {};
    for (const apiserver::Action& action : wanted->needed) TRY_VOID(authorize(record.user, action));
    record.acting_as = std::move(wanted->user);
    return {};
}

apiserver::StatusResult<void> AccessControl::authorize(RequestRecord& record) const {
    record.decision =
        options_.everything_allowed
            ? apiserver::Decision{true, {}}
            : apiserver::decide(handler_.cache(), record.served_user(), record.action);
    if (record.decision->allowed) return {};
    return apiserver::forbidden_for(record.served_user(), record.action, *record.decision);
}

apiserver::Admit AccessControl::admission(const apiserver::User& user,
                                          const apiserver::Target& target,
                                          kube::Method method) const {
    if (options_.everything_allowed || user.in_group(apiserver::kMasters)) return nullptr;
    apiserver::Action creation = apiserver::action_on(target, kube::Method::kPost, false);
    return [this, user, target, creation, method](
               const json::object* before,
               const json::object& after) -> apiserver::StatusResult<void> {
        // A PUT or an apply creates a missing object.
        if (before == nullptr && method != kube::Method::kPost) TRY_VOID(authorize(user, creation));
        TRY_VOID(apiserver::check_ownership(handler_.cache(), handler_.registry(), user, target,
                                            before, after));
        return apiserver::check_escalation(handler_.cache(), user, target.type(), before, after);
    };
}

}  // namespace muster::apiserver_http
