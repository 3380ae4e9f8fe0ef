#include "apiserver/authentication/service_account_name.h"

#include <fmt/format.h>

#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {
constexpr std::string_view kPrefix = "system:serviceaccount:";
}

std::string ServiceAccountName::user_name() const {
    return fmt::format("{}{}:{}", kPrefix, namespace_, name);
}

std::vector<std::string> ServiceAccountName::groups() const {
    return {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", namespace_)};
}

std::optional<ServiceAccountName> parse_service_account(std::string_view user_name) {
    if (!user_name.starts_with(kPrefix)) return std::nullopt;
    user_name.remove_prefix(kPrefix.size());
    const std::size_t colon = user_name.find(':');
    if (colon == user_name.npos) return std::nullopt;
    ServiceAccountName account{std::string(user_name.substr(0, colon)),
                               std::string(user_name.substr(colon + 1))};
    if (!kube::is_dns1123_label(account.namespace_) || !kube::is_dns1123_subdomain(account.name))
        return std::nullopt;
    return account;
}

}  // namespace muster::apiserver
