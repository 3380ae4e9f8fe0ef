#include "apiserver/authorization/action.h"

#include "kube/objects/selector.h"

namespace muster::apiserver {

namespace {

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
    // A role in the namespace decides about the namespace itself.
    if (target.def->storage_key() == "namespaces") action.namespace_ = target.name;
    return action;
}

Action action_on_path(std::string path, kube::Method method) {
    Action action;
    action.verb = path_verb(method);
    action.path = std::move(path);
    return action;
}

}  // namespace muster::apiserver
