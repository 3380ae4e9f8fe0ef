#include "apiserver/internal/verbs/scale_owners.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr const char* kScaleVersion = "autoscaling/v1";

/// The path of the replicas as a set.
kube::FieldSet replicas_field(std::string_view path) {
    kube::FieldPathElements elements;
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t dot = std::min(path.find('.', start), path.size());
        elements.push_back(kube::PathElement::field(path.substr(start, dot - start)));
        start = dot + 1;
    }
    kube::FieldSet set;
    set.insert(elements);
    return set;
}

json::value scale_with(std::int64_t replicas) {
    json::object spec;
    if (replicas != 0) spec["replicas"] = replicas;
    return json::object{{"spec", std::move(spec)}};
}

bool same_owner(const json::object& a, const json::object& b) {
    return std::ranges::all_of(
        std::initializer_list<const char*>{"manager", "operation", "subresource"},
        [&](const char* key) { return string_at(a, key) == string_at(b, key); });
}

bool has_owner(const json::array& entries, const json::object& owner) {
    return std::ranges::any_of(
        entries, [&](const json::value& entry) { return same_owner(entry.get_object(), owner); });
}

/// The entries that own the replicas, as those of the Scale.
json::array scale_entries(const json::array& entries, const kube::FieldSet& field) {
    json::array found;
    for (const json::value& value : entries) {
        const json::object& entry = value.get_object();
        if (!kube::intersects(child(entry, "fieldsV1"), field)) continue;
        json::object one = entry;
        one["apiVersion"] = kScaleVersion;
        one["fieldsV1"] = {{"f:spec", {{"f:replicas", json::object()}}}};
        found.push_back(std::move(one));
    }
    return found;
}

/// The entries of the object for those that its Scale has after a write.
json::array object_entries(const ResourceDef& def, const json::array& before,
                           const json::array& scale, const kube::FieldSet& field) {
    json::array entries;
    json::array owners;  // that had the replicas already
    for (const json::value& value : before) {
        json::object entry = value.get_object();
        if (kube::intersects(child(entry, "fieldsV1"), field)) {
            if (has_owner(scale, entry)) {
                owners.push_back(entry);
            } else {
                const Result<kube::FieldSet> set =
                    kube::FieldSet::from_json(child(entry, "fieldsV1"));
                if (!set) continue;
                const kube::FieldSet rest = difference_of(*set, field);
                if (rest.empty()) continue;
                entry["fieldsV1"] = rest.to_json();
            }
        }
        entries.push_back(std::move(entry));
    }
    for (const json::value& value : scale) {
        if (has_owner(owners, value.get_object())) continue;
        json::object entry = value.get_object();
        entry["apiVersion"] = def.type.api_version();
        entry["fieldsV1"] = field.to_json();
        entry.erase("time");
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace

StatusResult<void> scale_and_track(const ResourceDef& def, json::object& object,
                                   std::int64_t replicas, const Ownership& ownership, bool force) {
    const std::string& path = def.scale->spec_replicas;
    const json::value* current = value_at_path(object, path);
    const std::int64_t* number = current == nullptr ? nullptr : current->if_int64();
    json::value before = scale_with(number == nullptr ? 0 : *number);
    const json::value after = scale_with(replicas);
    set_at_path(object, path, json::value(replicas));
    if (ownership.kind == Ownership::Kind::kUntracked) return {};

    json::object& meta = ensure_object(object, "metadata");
    const json::array* stored = array_at(meta, "managedFields");
    const json::array entries = stored == nullptr ? json::array() : *stored;
    const kube::FieldSet field = replicas_field(path);
    json::array scale = scale_entries(entries, field);
    const kube::FieldOwner who{ownership.manager.name, kScaleVersion, "scale", ""};
    if (ownership.kind == Ownership::Kind::kApplied) {
        static const json::value kUnset = scale_with(0);
        const Result<void> applied = kube::apply_fields(scale, nullptr, before, after, {}, who,
                                                        {.force = force, .unset = &kUnset});
        if (!applied) return StatusError{applied.error(), kube::StatusDetails{}, false, {}};
    } else if (!scale.empty()) {
        kube::record_write(scale, nullptr, before, after, {}, who);
    }
    Result<json::array> next =
        kube::read_managed_fields(object_entries(def, entries, scale, field), meta.storage());
    if (!next) return {};  // what is stored can't be read: it stays as it is
    if (next->empty())
        meta.erase("managedFields");
    else
        meta["managedFields"] = *std::move(next);
    return {};
}

}  // namespace muster::apiserver
