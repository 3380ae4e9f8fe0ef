#include "apiserver_http/internal/wire/impersonation.h"

#include "apiserver/authentication/authentication.h"
#include "apiserver/authentication/service_account_name.h"
#include "base/lower_case.h"
#include "base/utf8.h"
#include "net/http/percent_decoding.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kUserField = "impersonate-user";
constexpr std::string_view kUidField = "impersonate-uid";
constexpr std::string_view kGroupField = "impersonate-group";
constexpr std::string_view kExtraField = "impersonate-extra-";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";

apiserver::Action impersonate(std::string_view group, std::string resource, std::string_view name) {
    apiserver::Action action{.verb = "impersonate"};
    action.group = group;
    action.resource = std::move(resource);
    action.name = name;
    return action;
}

/// A user is either authenticated or not; for an impersonated one only the name tells.
void complete_groups(apiserver::User& user,
                     const std::optional<apiserver::ServiceAccountName>& account) {
    if (account && user.groups.empty()) user.groups = account->groups();
    if (user.name == apiserver::kAnonymous) {
        if (!user.in_group(apiserver::kUnauthenticated))
            user.groups.emplace_back(apiserver::kUnauthenticated);
    } else if (!user.in_group(apiserver::kAuthenticated) &&
               !user.in_group(apiserver::kUnauthenticated)) {
        user.groups.emplace_back(apiserver::kAuthenticated);
    }
}

}  // namespace

apiserver::StatusResult<std::optional<Impersonation>> read_impersonation(
    const net::HttpHeaders& headers) {
    Impersonation wanted;
    bool any = false;
    for (const auto& [field, value] : headers) {
        const std::string name = lower_case(field);
        if (!name.starts_with("impersonate-")) continue;
        if (!is_utf8(value))
            return apiserver::bad_request(
                fmt::format("the field {} has bytes that are not UTF-8", field));
        if (name == kUserField || name == kUidField) {
            std::string& slot = name == kUserField ? wanted.user.name : wanted.user.uid;
            if (!slot.empty())
                return apiserver::bad_request(
                    fmt::format("the request has more than one field {}", field));
            slot = value;
            if (name == kUidField)
                wanted.needed.push_back(impersonate(kAuthenticationGroup, "uids", value));
        } else if (name == kGroupField) {
            wanted.user.groups.emplace_back(value);
            wanted.needed.push_back(impersonate("", "groups", value));
        } else if (name.starts_with(kExtraField)) {
            const auto key = net::percent_decoded(name.substr(kExtraField.size()));
            if (!key || key->empty() || !is_utf8(*key))
                return apiserver::bad_request(
                    fmt::format("the name of the field {} is not an extra key", field));
            apiserver::Action action = impersonate(kAuthenticationGroup, "userextras", value);
            action.subresource = *key;
            wanted.user.extra[*key].emplace_back(value);
            wanted.needed.push_back(std::move(action));
        } else {
            continue;
        }
        any = true;
    }
    if (!any) return std::optional<Impersonation>();
    if (wanted.user.name.empty())
        return apiserver::bad_request(
            "the request names groups, a uid or extra fields to impersonate, "
            "but no user (Impersonate-User)");
    const auto account = apiserver::parse_service_account(wanted.user.name);
    apiserver::Action user = account ? impersonate("", "serviceaccounts", account->name)
                                     : impersonate("", "users", wanted.user.name);
    if (account) user.namespace_ = account->namespace_;
    wanted.needed.insert(wanted.needed.begin(), std::move(user));
    complete_groups(wanted.user, account);
    return std::optional<Impersonation>(std::move(wanted));
}

}  // namespace muster::apiserver_http
