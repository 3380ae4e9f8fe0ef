#include "apiserver/authorization/authorization.h"

#include <algorithm>

#include "apiserver/authentication/authentication.h"
#include "apiserver/authorization/granted_rules.h"
#include "apiserver/authorization/policy_rule.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// Probes keep working whatever happens to the roles.
bool is_open(std::string_view path) {
    constexpr std::string_view kOpen[] = {"/healthz", "/livez", "/readyz"};
    return std::ranges::find(kOpen, path) != std::end(kOpen);
}

}  // namespace

Decision decide(const WatchCache& cache, const User& user, const Action& action) {
    if (user.in_group(kMasters)) return {true, {}};
    if (action.resource.empty() && is_open(action.path)) return {true, {}};
    Decision decision;
    const VisitedRoles visited =
        visit_granted_rules(cache, user, action.namespace_, [&](const Grant& grant) {
            if (!rule_allows(grant.rule, action)) return true;
            decision = {true, fmt::format("RBAC: allowed by {}", grant.source())};
            return false;
        });
    if (!decision.allowed && !visited.errors.empty())
        decision.reason = fmt::format("RBAC: {}", joined_errors(visited.errors));
    return decision;
}

AllowedNames allowed_names(const WatchCache& cache, const User& user, const Action& action) {
    // Others choose how many names a role has; real ones have a few.
    constexpr std::size_t kMostNames = 50'000;
    AllowedNames allowed;
    allowed.all = user.in_group(kMasters);
    if (allowed.all) return allowed;
    const VisitedRoles visited =
        visit_granted_rules(cache, user, action.namespace_, [&](const Grant& grant) {
            if (!rule_allows_some_name(grant.rule, action)) return true;
            const json::array* names = array_at(grant.rule, "resourceNames");
            allowed.all = names == nullptr || names->empty();
            if (allowed.all) return false;
            for (const json::value& name : *names)
                if (const json::string* text = name.if_string()) allowed.names.emplace(*text);
            return allowed.names.size() <= kMostNames;
        });
    allowed.looked_at = visited.bytes;
    if (allowed.names.size() > kMostNames)
        allowed.reason = fmt::format("RBAC: names beyond the first {} do not count", kMostNames);
    else if (!allowed.all && !visited.errors.empty())
        allowed.reason = fmt::format("RBAC: {}", joined_errors(visited.errors));
    return allowed;
}

StatusError forbidden_for(const User& user, const Action& action, const Decision& decision) {
    const std::string because =
        decision.reason.empty() ? std::string() : fmt::format(": {}", decision.reason);
    if (action.resource.empty())
        return {
            Error(Code::kForbidden, fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"{}",
                                                user.name, action.verb, action.path, because)),
            kube::StatusDetails{},
            false,
            {}};
    kube::ResourceType type;
    type.group = action.group;
    type.plural = action.resource;
    const std::string whole = action.subresource.empty()
                                  ? action.resource
                                  : fmt::format("{}/{}", action.resource, action.subresource);
    const std::string where = action.namespace_.empty()
                                  ? "at the cluster scope"
                                  : fmt::format("in the namespace \"{}\"", action.namespace_);
    return forbidden(type, action.name,
                     fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}{}",
                                 user.name, action.verb, whole, action.group, where, because));
}

StatusResult<void> authorize(const WatchCache& cache, const User& user, const Action& action) {
    const Decision decision = decide(cache, user, action);
    if (decision.allowed) return {};
    return forbidden_for(user, action, decision);
}

}  // namespace muster::apiserver
