#include "apiserver/authorization/ownership.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

const json::array& owners_of(const json::object* object) {
    static const json::array kNone;
    const json::array* found =
        object == nullptr ? nullptr : array_at(metadata_of(*object), "ownerReferences");
    return found == nullptr ? kNone : *found;
}

bool blocks(const json::value& owner) {
    const json::object* fields = owner.if_object();
    return fields != nullptr && bool_at(*fields, "blockOwnerDeletion");
}

/// It was there, and blocked its owner's deletion.
bool blocked_before(const json::array& before, const json::object& owner) {
    return std::ranges::any_of(before, [&](const json::value& one) {
        const json::object* fields = one.if_object();
        return fields != nullptr && blocks(one) &&
               string_at(*fields, "uid") == string_at(owner, "uid") &&
               string_at(*fields, "kind") == string_at(owner, "kind") &&
               string_at(*fields, "name") == string_at(owner, "name") &&
               string_at(*fields, "apiVersion") == string_at(owner, "apiVersion");
    });
}

StatusResult<void> check_owner(const WatchCache& cache, const Registry& registry,
                               const User& author, const Target& target, const json::object& object,
                               const json::object& owner) {
    const DefPtr def = registry.find_kind(string_at(owner, "apiVersion"), string_at(owner, "kind"));
    if (def == nullptr) return {};
    Action update{.verb = "update", .group = def->type.group, .resource = def->type.plural};
    update.name = string_at(owner, "name");
    if (def->type.namespaced) update.namespace_ = target.namespace_;
    if (decide(cache, author, update).allowed) return {};
    update.subresource = "finalizers";
    const Decision decision = decide(cache, author, update);
    if (decision.allowed) return {};
    return forbidden(
        target.type(), name_of(object),
        fmt::format("cannot set blockOwnerDeletion if an ownerReference refers to a resource you "
                    "can't set finalizers on: {}",
                    decision.reason));
}

}  // namespace

StatusResult<void> check_ownership(const WatchCache& cache, const Registry& registry,
                                   const User& author, const Target& target,
                                   const json::object* before, const json::object& after) {
    const json::array& had = owners_of(before);
    const json::array& has = owners_of(&after);
    if (has.empty() || kube::equal(had, has)) return {};
    if (before != nullptr) {
        Action remove = action_on(target, kube::Method::kDelete, false);
        remove.subresource.clear();
        const Decision decision = decide(cache, author, remove);
        if (!decision.allowed)
            return forbidden(
                target.type(), name_of(after),
                fmt::format("cannot set an ownerRef on a resource you can't delete: {}",
                            decision.reason));
    }
    for (const json::value& entry : has) {
        const json::object* owner = entry.if_object();
        if (owner == nullptr || !blocks(entry) || blocked_before(had, *owner)) continue;
        TRY_VOID(check_owner(cache, registry, author, target, after, *owner));
    }
    return {};
}

}  // namespace muster::apiserver
