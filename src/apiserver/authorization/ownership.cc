#include "apiserver/authorization/ownership.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

/// The roles of the author are looked through for each kind of owner, and for its finalizers: so many
/// bytes of them in all. Those of real users have a thousandth of it.
constexpr std::size_t kMostLookedAt = std::size_t{2} * 1024 * 1024;

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

/// What an owner is known by: uid, kind, name, apiVersion.
using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

OwnerKey key_of(const json::object& owner) {
    return {string_at(owner, "uid"), string_at(owner, "kind"), string_at(owner, "name"),
            string_at(owner, "apiVersion")};
}

std::set<OwnerKey> blocking(const json::array& owners) {
    std::set<OwnerKey> keys;
    for (const json::value& owner : owners)
        if (blocks(owner)) keys.insert(key_of(owner.get_object()));
    return keys;
}

/// Which owners the author of one object may block. An object has many owners and a cluster many
/// rules: the rules are looked through once for each kind of owner.
class BlockableOwners {
  public:
    BlockableOwners(const WatchCache& cache, const Registry& registry, const User& author,
                    std::string_view space)
        : cache_(cache), registry_(registry), author_(author), namespace_(space) {}

    /// nullopt: it may be blocked. Otherwise a role that could not be read, or "".
    std::optional<std::string> why_not(const json::object& owner) {
        const auto [it, added] =
            kinds_.try_emplace({string_at(owner, "apiVersion"), string_at(owner, "kind")});
        Kind& kind = it->second;
        const std::string_view name = string_at(owner, "name");
        if (added) {
            kind.def = registry_.find_kind(it->first.first, it->first.second);
            if (kind.def != nullptr) kind.update = names_for(*kind.def, "");
        }
        if (kind.def == nullptr || kind.update.contain(name)) return std::nullopt;
        if (!kind.finalizers) kind.finalizers = names_for(*kind.def, "finalizers");
        if (kind.finalizers->contain(name)) return std::nullopt;
        return kind.finalizers->reason;
    }

  private:
    struct Kind {
        DefPtr def;  ///< null if it is not served
        AllowedNames update;
        std::optional<AllowedNames> finalizers;
    };

    AllowedNames names_for(const ResourceDef& def, std::string_view subresource) {
        if (looked_at_ > kMostLookedAt)
            return {.reason = "RBAC: there are too many kinds of owners for so large roles"};
        Action update{.verb = "update", .group = def.type.group, .resource = def.type.plural};
        update.subresource = subresource;
        if (def.type.namespaced) update.namespace_ = namespace_;
        AllowedNames names = allowed_names(cache_, author_, update);
        looked_at_ += names.looked_at;
        return names;
    }

    const WatchCache& cache_;
    const Registry& registry_;
    const User& author_;
    std::string namespace_;
    std::map<std::pair<std::string_view, std::string_view>, Kind> kinds_;  ///< by apiVersion, kind
    std::size_t looked_at_ = 0;                                            ///< bytes of roles
};

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
    const std::set<OwnerKey> blocked_before = blocking(had);
    BlockableOwners blockable(cache, registry, author, target.namespace_);
    for (const json::value& entry : has) {
        if (!blocks(entry) || blocked_before.contains(key_of(entry.get_object()))) continue;
        if (const auto why = blockable.why_not(entry.get_object()))
            return forbidden(
                target.type(), name_of(after),
                fmt::format("cannot set blockOwnerDeletion if an ownerReference refers to a "
                            "resource you can't set finalizers on: {}",
                            *why));
    }
    return {};
}

}  // namespace muster::apiserver
