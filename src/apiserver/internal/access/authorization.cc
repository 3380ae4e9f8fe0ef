#include "apiserver/internal/access/authorization.h"

#include <algorithm>

#include "apiserver/internal/access/authentication.h"

namespace muster::apiserver {

namespace {

/// Whether a server lives, and which one it is, may be asked by anybody.
bool is_open(std::string_view path) {
    constexpr std::string_view kOpen[] = {"/healthz", "/livez", "/readyz", "/version"};
    return std::ranges::any_of(kOpen, [&](std::string_view open) {
        return path.starts_with(open) && (path.size() == open.size() || path[open.size()] == '/');
    });
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

Refusal refusal_of(const User& user, const Action& action) {
    if (action.resource.empty())
        return {Error(Code::kForbidden, fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"",
                                                    user.name, action.verb, action.path)),
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
                     fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                                 user.name, action.verb, whole, action.group, where));
}

}  // namespace

Action action_on(const Target& target, kube::Method method, bool watch) {
    Action action;
    action.verb = verb_of(method, target.is_collection(), watch);
    action.group = target.type().group;
    action.resource = target.type().plural;
    action.subresource = target.subresource;
    action.namespace_ = target.namespace_;
    action.name = target.name;
    return action;
}

Action action_on_path(std::string path, kube::Method method) {
    Action action;
    action.verb = path_verb(method);
    action.path = std::move(path);
    return action;
}

Answer<void> authorize(const User& user, const Action& action) {
    if (user.in_group(kMasters)) return {};
    if (action.resource.empty() && is_open(action.path)) return {};
    return refusal_of(user, action);
}

}  // namespace muster::apiserver
