#include "apiserver/internal/access/authorization.h"

#include <algorithm>

#include "apiserver/internal/access/authentication.h"
#include "apiserver/internal/access/granted_rules.h"
#include "apiserver/internal/access/policy_rule.h"
#include "kube/objects/selector.h"

namespace muster::apiserver {

namespace {

/// Probes go on to work whatever becomes of the roles.
bool is_open(std::string_view path) {
    constexpr std::string_view kOpen[] = {"/healthz", "/livez", "/readyz"};
    return std::ranges::find(kOpen, path) != std::end(kOpen);
}

/// The one name that a selector leaves, or none.
std::string selected_name(std::string_view field_selector) {
    if (field_selector.empty()) return {};
    const auto requirements = kube::parse_field_selector(field_selector);
    if (!requirements) return {};
    for (const kube::FieldRequirement& one : *requirements)
        if (one.path == "metadata.name" && !one.negated) return one.value;
    return {};
}

std::string_view verb_of(kube::Method method, bool collection, bool watch) {
    switch (method) {
        case kube::Method::kGet:
            return !collection ? "get" : watch ? "watch" : "list";
        case kube::Method::kPost:
            return "create";
        case kube::Method::kPut:
            return "update";
        case kube::Method::kPatch:
            return "patch";
        case kube::Method::kDelete:
            return collection ? "deletecollection" : "delete";
    }
    return "get";
}

std::string_view path_verb(kube::Method method) {
    switch (method) {
        case kube::Method::kGet:
            return "get";
        case kube::Method::kPost:
            return "post";
        case kube::Method::kPut:
            return "put";
        case kube::Method::kPatch:
            return "patch";
        case kube::Method::kDelete:
            return "delete";
    }
    return "get";
}

}  // namespace

Action action_on(const Target& target, kube::Method method, bool watch,
                 std::string_view field_selector) {
    Action action;
    action.verb = verb_of(method, target.is_collection(), watch);
    action.group = target.type().group;
    action.resource = target.type().plural;
    action.subresource = target.subresource;
    action.namespace_ = target.namespace_;
    action.name = target.name;
    const bool selects = method == kube::Method::kGet || method == kube::Method::kDelete;
    if (target.is_collection() && selects) action.name = selected_name(field_selector);
    // A role of the namespace says who may see the namespace.
    if (target.def->storage_key() == "namespaces") action.namespace_ = target.name;
    return action;
}

Action action_on_path(std::string path, kube::Method method) {
    Action action;
    action.verb = path_verb(method);
    action.path = std::move(path);
    return action;
}

Decision decide(const WatchCache& cache, const User& user, const Action& action) {
    if (user.in_group(kMasters)) return {true, {}};
    if (action.resource.empty() && is_open(action.path)) return {true, {}};
    Decision decision;
    const std::vector<std::string> errors =
        visit_granted_rules(cache, user, action.namespace_, [&](const Grant& grant) {
            if (!rule_allows(grant.rule, action)) return true;
            decision = {true, fmt::format("RBAC: allowed by {}", grant.source())};
            return false;
        });
    if (!decision.allowed && !errors.empty())
        decision.reason = fmt::format("RBAC: {}", joined_errors(errors));
    return decision;
}

Refusal refusal_of(const User& user, const Action& action, const Decision& decision) {
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

Answer<void> authorize(const WatchCache& cache, const User& user, const Action& action) {
    const Decision decision = decide(cache, user, action);
    if (decision.allowed) return {};
    return refusal_of(user, action, decision);
}

}  // namespace muster::apiserver
