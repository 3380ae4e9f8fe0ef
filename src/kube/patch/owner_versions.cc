#include "kube/patch/owner_versions.h"

#include <algorithm>

#include "kube/schema/schema.h"
#include "kube/values/json_access.h"

namespace muster::kube {

namespace {

/// An object in one version after the other.
class Moving {
  public:
    Moving(json::value object, std::string_view api_version, OwnerVersions& versions)
        : object_(std::move(object)), at_(api_version), versions_(versions) {}

    /// False if that is not known yet.
    bool move_to(std::string_view api_version) {
        if (at_ == api_version) return true;
        const ObjectPtr made = versions_.convert(object_, api_version);
        if (made == nullptr) return false;
        object_ = *made;
        at_ = api_version;
        return true;
    }
    json::value& object() { return object_; }
    void put(json::value object) { object_ = std::move(object); }

  private:
    json::value object_;
    std::string at_;
    OwnerVersions& versions_;
};

FieldSet named_fields_of(const Schema* schema, const json::value& object) {
    return with_named_fields(schema, field_set_of(schema, object));
}

void drop(const Schema* schema, json::value& object, const FieldSet& fields) {
    // Metadata stays when no one owns anything in it.
    remove_fields(schema, object, without_metadata_itself(fields));
    if (object.is_null()) object = json::object();  // the object itself stays
}

/// Adds back to `pruned` what is owned in one version. Both move to it.
bool add_back_owned(Moving& merged, Moving& pruned, std::string_view api_version,
                    const FieldSet& owned, const OwnerVersions& versions) {
    const OwnerVersions::Version* version = versions.find(api_version);
    if (version == nullptr) return true;
    if (!merged.move_to(api_version) || !pruned.move_to(api_version)) return false;
    const Schema* schema = version->schema;
    const FieldSet kept =
        union_of(named_fields_of(schema, pruned.object()), with_named_fields(schema, owned));
    json::value rest = merged.object();
    drop(schema, rest, difference_of(named_fields_of(schema, merged.object()), kept));
    pruned.put(std::move(rest));
    return true;
}

}  // namespace

FieldSet without_metadata_itself(FieldSet set) {
    static const FieldSet kMetadata = [] {
        FieldSet fields;
        fields.insert({PathElement::field("metadata")});
        return fields;
    }();
    const FieldSet::Node* node = set.find(PathElement::field("metadata"));
    return node != nullptr && node->member ? difference_of(set, kMetadata) : std::move(set);
}

EffectByVersion::EffectByVersion(WriteEffect own, std::string_view own_version,
                                 const json::value& before, const json::value& after,
                                 OwnerVersions* versions)
    : own_(std::move(own)),
      own_version_(own_version),
      before_(before),
      after_(after),
      versions_(versions) {}

const WriteEffect* EffectByVersion::of(std::string_view api_version) {
    if (versions_ == nullptr || api_version == own_version_) return &own_;
    auto known = others_.find(api_version);
    if (known == others_.end())
        known = others_.emplace(std::string(api_version), seen_in(api_version)).first;
    return known->second ? &*known->second : nullptr;
}

std::optional<WriteEffect> EffectByVersion::seen_in(std::string_view api_version) {
    const OwnerVersions::Version* version = versions_->find(api_version);
    if (version == nullptr) return std::nullopt;
    // Both are asked for, so that one question has them.
    const ObjectPtr before = versions_->convert(before_, api_version);
    const ObjectPtr after = versions_->convert(after_, api_version);
    if (before == nullptr || after == nullptr) return std::nullopt;
    FieldChanges changes = compare_fields(version->schema, *before, *after, *version->ignored);
    return WriteEffect{union_of(changes.added, changes.modified), std::move(changes.removed)};
}

bool has_other_versions(const json::array& entries, std::string_view api_version) {
    return std::ranges::any_of(entries, [&](const json::value& entry) {
        return string_at(entry.get_object(), "apiVersion") != api_version;
    });
}

json::value prune_in_versions(const json::value& merged, std::string_view own_version,
                              const LastApplied& last,
                              const std::map<std::string, FieldSet, std::less<>>& owned,
                              OwnerVersions& versions) {
    const OwnerVersions::Version* version = versions.find(last.api_version);
    if (version == nullptr || last.set.empty()) return merged;
    Moving whole(merged, own_version, versions);
    if (!whole.move_to(last.api_version)) return merged;
    const json::value begun = whole.object();
    const FieldSet given_up = with_named_fields(version->schema, last.set);
    Moving pruned(begun, last.api_version, versions);
    drop(version->schema, pruned.object(), given_up);

    // First in the version in which it was pruned, as upstream: another may need the fields.
    if (const auto own = owned.find(last.api_version); own != owned.end())
        if (!add_back_owned(whole, pruned, own->first, own->second, versions)) return merged;
    for (const auto& [api_version, set] : owned)
        if (api_version != last.api_version &&
            !add_back_owned(whole, pruned, api_version, set, versions))
            return merged;

    if (!pruned.move_to(last.api_version)) return merged;
    const FieldSet gone = difference_of(named_fields_of(version->schema, begun),
                                        named_fields_of(version->schema, pruned.object()));
    Moving result(begun, last.api_version, versions);
    drop(version->schema, result.object(), intersection_of(gone, given_up));
    return result.move_to(own_version) ? std::move(result.object()) : merged;
}

}  // namespace muster::kube
