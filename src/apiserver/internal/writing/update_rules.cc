#include "apiserver/internal/writing/update_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "apiserver/internal/expressions/schema_rules.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

bool equal_at(const json::object& a, const json::object& b, std::string_view key) {
    const json::value* left = a.if_contains(key);
    const json::value* right = b.if_contains(key);
    if (left == nullptr || right == nullptr) return left == right;
    return kube::equal(*left, *right);
}

/// Restores a field from storage, including its absence.
void restore(json::object& next, const json::object& current, std::string_view key) {
    const json::value* stored = current.if_contains(key);
    if (stored == nullptr)
        next.erase(key);
    else if (!equal_at(next, current, key))
        next[key] = *stored;
}

/// Something besides metadata (and status, where it is a subresource) differs.
bool desired_state_differs(const ResourceDef& def, const json::object& a, const json::object& b) {
    const auto ignored = [&](std::string_view key) {
        return key == "metadata" || (key == "status" && def.has_status);
    };
    for (const auto& entry : a)
        if (!ignored(entry.key()) && !equal_at(a, b, entry.key())) return true;
    for (const auto& entry : b)
        if (!ignored(entry.key()) && !a.contains(entry.key())) return true;
    return false;
}

StatusResult<void> check_identity(const ResourceDef& def, const json::object& current,
                                  const json::object& next, WriteKind write) {
    const json::object& stored = metadata_of(current);
    const json::object& sent = metadata_of(next);
    const std::string_view name = string_at(stored, "name");
    const std::string_view uid = string_at(sent, "uid");
    if (!uid.empty() && uid != string_at(stored, "uid")) {
        if (write == WriteKind::kPatch)
            return invalid(def.type, name,
                           {invalid_value("metadata.uid", json::value(uid), "field is immutable")});
        return conflict(def.type, name,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                    "meta: {}",
                                    uid, string_at(stored, "uid")));
    }
    const std::string_view version = string_at(sent, "resourceVersion");
    if (version.empty()) {
        if (def.unconditional_update) return {};
        return invalid(def.type, name,
                       {invalid_value("metadata.resourceVersion", json::value(0),
                                      "must be specified for an update")});
    }
    if (version.find_first_not_of("0123456789") != std::string_view::npos)
        return internal_error(
            fmt::format("resourceVersion \"{}\" is not a decimal number", version));
    if (version == "0" && def.unconditional_update) return {};
    if (version != string_at(stored, "resourceVersion")) return stale_write(def.type, name);
    return {};
}

void restore_system_metadata(json::object& next, const json::object& current) {
    json::object& meta = ensure_object(next, "metadata");
    const json::object& stored = metadata_of(current);
    for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp",
                            "deletionTimestamp", "deletionGracePeriodSeconds"})
        restore(meta, stored, key);
    meta.erase("selfLink");
}

/// The stored object with the changes that a write to /status may make.
kube::Document with_status(const ResourceDef& def, const json::object& stored,
                           const json::object& next, Ownership::Kind ownership) {
    const json::value* status = next.if_contains("status");
    std::size_t bytes = (stored.size() + 2) * sizeof(json::key_value_pair) + 64;
    for (const auto& entry : stored)
        if (entry.key() != "status")
            bytes += entry.key().size() + 8 + kube::tree_bytes(entry.value());
    if (status != nullptr) bytes += kube::tree_bytes(*status);
    kube::Document kept = kube::Document::empty_object(bytes);
    json::object& fields = kept.object();
    fields.reserve(stored.size() + 1);
    for (const auto& entry : stored)
        if (entry.key() != "status") fields.emplace(entry.key(), entry.value());
    if (status != nullptr) fields.emplace("status", *status);
    json::object& meta = ensure_object(fields, "metadata");
    if (!def.custom)
        for (const char* key : {"labels", "annotations", "finalizers"})
            if (key != std::string_view("labels") || !keeps_labels(def))
                restore(meta, metadata_of(next), key);
    // For a tracked write the stored entries stay; they are updated afterwards.
    if (ownership == Ownership::Kind::kApplied ||
        (ownership == Ownership::Kind::kUntracked && !def.custom))
        restore(meta, metadata_of(next), "managedFields");
    return kept;
}

void check_new_finalizers(const json::object& next, const json::object& current,
                          FieldErrors& field_errors) {
    const json::array* finalizers = array_at(metadata_of(next), "finalizers");
    if (!is_deleting(current) || finalizers == nullptr) return;
    std::string added;
    for (const json::value& entry : *finalizers) {
        if (!entry.is_string() || has_finalizer(current, std::string_view(entry.get_string())))
            continue;
        if (!added.empty()) added += ", ";
        added += json::serialize(entry);
    }
    if (!added.empty())
        field_errors.push_back(forbidden_field(
            "metadata.finalizers",
            fmt::format("no new finalizers can be added if the object is being deleted, found new "
                        "finalizers []string{{{}}}",
                        added)));
}

/// The numbers of a custom resource that its scale shows have 32 bits.
void check_scale(const json::object& object, const std::string& path, FieldErrors& field_errors) {
    const json::value* value = path.empty() ? nullptr : value_at_path(object, path);
    if (value == nullptr || value->is_null()) return;
    const std::string field = "." + path;
    // Clients in this process also write unsigned numbers.
    json::error_code failed;
    const auto replicas = value->to_number<std::int64_t>(failed);
    if (failed)
        field_errors.push_back(
            invalid_value(field, json::value(0),
                          fmt::format("{} accessor error: {} is not of the type int64", field,
                                      json::serialize(*value))));
    else if (replicas < 0)
        field_errors.push_back(
            invalid_value(field, json::value(replicas), "should be a non-negative integer"));
    else if (replicas > std::numeric_limits<std::int32_t>::max())
        field_errors.push_back(invalid_value(field, json::value(replicas),
                                             "should be less than or equal to 2147483647"));
}

/// `before`: the stored state, null for a new object.
void validate_object(const ResourceDef& def, const json::value& object, const json::value* before,
                     bool well_formed, FieldErrors& field_errors) {
    validate_metadata(def, object.get_object(), field_errors);
    if (def.custom && !well_formed) {
        // Metadata has rules of its own, with better messages.
        std::vector<Cause> causes = before == nullptr
                                        ? kube::validate(*def.schema, object)
                                        : kube::validate_change(*def.schema, object, *before);
        for (Cause& cause : causes) field_errors.push_back(std::move(cause));
    }
    if (def.strategy.validate != nullptr) def.strategy.validate(object.get_object(), field_errors);
    if (def.custom && def.scale)
        check_scale(object.get_object(), def.scale->spec_replicas, field_errors);
    if (def.rules == nullptr) return;
    // Rules count on the structure.
    if (field_errors.empty())
        def.rules->check(object, before, field_errors);
    else
        field_errors.push_back(invalid_value(
            "<nil>", nullptr,
            "some validation rules were not checked because the object was invalid; correct the "
            "existing errors to complete validation"));
}

/// What is wrong with a part that is as it was stored, perhaps at a time of fewer rules, is no cause:
/// the object has to be able to end. Metadata has rules of its own for changes.
void forget_stored_parts(const json::object& next, const json::object& stored,
                         FieldErrors& field_errors) {
    std::map<std::string, bool, std::less<>> same;
    std::erase_if(field_errors, [&](const Cause& cause) {
        const std::string_view part =
            std::string_view(cause.field).substr(0, cause.field.find_first_of(".["));
        if (part == "metadata" || !stored.contains(part)) return false;
        const auto [known, fresh] = same.emplace(part, false);
        if (fresh) known->second = equal_at(next, stored, part);
        return known->second;
    });
}

/// The structure and the rules of a kind may report the same error. As upstream, the rules of a
/// built-in kind may repeat themselves. `structural`: how many causes at the front are of the structure.
FieldErrors without_repeats(const ResourceDef& def, FieldErrors field_errors,
                            std::size_t structural) {
    std::set<std::pair<std::string, std::string>> seen;
    const auto is_new = [&](const Cause& cause) {
        return seen.emplace(cause.field, cause.reason + cause.message).second;
    };
    if (def.custom) {
        std::erase_if(field_errors, [&](const Cause& cause) { return !is_new(cause); });
        return field_errors;
    }
    FieldErrors kept(field_errors.begin() + static_cast<std::ptrdiff_t>(structural),
                     field_errors.end());
    for (const Cause& cause : kept) is_new(cause);
    for (std::size_t i = 0; i < structural; ++i)
        if (is_new(field_errors[i])) kept.push_back(std::move(field_errors[i]));
    return kept;
}

bool ready_to_go(const ResourceDef& def, const json::object& object) {
    if (!is_deleting(object) || has_finalizers(object)) return false;
    if (int_at(metadata_of(object), "deletionGracePeriodSeconds").value_or(0) != 0) return false;
    const json::object* spec = def.has_spec_finalizers ? object_at(object, "spec") : nullptr;
    const json::array* finalizers = spec == nullptr ? nullptr : array_at(*spec, "finalizers");
    return finalizers == nullptr || finalizers->empty();
}

/// The text of the answer is made here, where a large one does not hold the loop.
NextState removal_of(kube::Document next) {
    return {NextState::Kind::kRemove, {}, nullptr, store::ObjectText::of(std::move(next).share())};
}

NextState refused(const ResourceDef& def, kube::Document next, FieldErrors field_errors) {
    StatusError refusal = invalid(def.type, name_of(next.object()), std::move(field_errors));
    return {.kind = NextState::Kind::kReplace,
            .object = std::move(next),
            .refusal = std::move(refusal)};
}

/// Whether two lists of managedFields differ in times at most.
bool same_owners(const json::value& a, const json::value& b) {
    const json::array* left = a.if_array();
    const json::array* right = b.if_array();
    if (left == nullptr || right == nullptr || left->size() != right->size()) return false;
    const auto same = [](const json::object& one, const json::object& other) {
        return std::ranges::all_of(one, [&](const auto& field) {
            return field.key() == "time" || equal_at(one, other, field.key());
        });
    };
    return std::ranges::equal(*left, *right, [&](const json::value& x, const json::value& y) {
        const json::object* one = x.if_object();
        const json::object* other = y.if_object();
        return one != nullptr && other != nullptr && same(*one, *other) && same(*other, *one);
    });
}

/// Times alone are no change: as upstream, so that those who apply
/// the same again and again, in other words than it is stored, change nothing.
bool same_metadata(const json::object& next, const json::object& stored) {
    if (equal_at(next, stored, "metadata")) return true;
    const json::object& meta = metadata_of(next);
    const json::object& before = metadata_of(stored);
    return meta.size() == before.size() && std::ranges::all_of(meta, [&](const auto& field) {
               const json::value* was = before.if_contains(field.key());
               if (was == nullptr) return false;
               return field.key() == "managedFields" ? same_owners(field.value(), *was)
                                                     : kube::equal(field.value(), *was);
           });
}

/// `wants_otherwise`: something besides metadata and status differs.
NextState settle_with(const ResourceDef& def, const json::object& stored, kube::Document next,
                      bool wants_otherwise) {
    json::object& fields = next.object();
    if (!wants_otherwise && same_metadata(fields, stored) &&
        (!def.has_status || equal_at(fields, stored, "status")))
        return {NextState::Kind::kKeep};
    if (def.tracks_generation) {
        const bool first_deletion = is_deleting(fields) && !is_deleting(stored);
        if (first_deletion || wants_otherwise) {
            const std::int64_t generation =
                int_at(metadata_of(stored), "generation").value_or(0) + 1;
            fields["metadata"].get_object()["generation"] = generation;
        }
    }
    return {NextState::Kind::kReplace, std::move(next)};
}

/// Only the new parts of a status are checked: the stored ones were valid when they were written.
StatusResult<NextState> decide_status_update(const ResourceDef& def, const json::value& current,
                                             DecodedObject proposed, const Ownership& ownership) {
    const json::object& stored = current.get_object();
    kube::Document next = with_status(def, stored, proposed.object.object(), ownership.kind);
    if (ownership.kind == Ownership::Kind::kWrite) {
        json::value& written = def.custom ? proposed.object.value() : next.value();
        TRY_VOID(track_write(def, current, written, ownership));
        if (def.custom)
            restore(ensure_object(next.object(), "metadata"), metadata_of(written),
                    "managedFields");
    }
    FieldErrors field_errors;  // for a built-in kind, the status is up to the controller
    if (def.custom && (!proposed.well_formed || def.rules != nullptr))
        validate_object(def, next.value(), &current, proposed.well_formed, field_errors);
    if (def.custom && def.scale)
        check_scale(next.object(), def.scale->status_replicas, field_errors);
    check_new_finalizers(next.object(), stored, field_errors);
    if (!field_errors.empty())
        return refused(def, std::move(next), without_repeats(def, std::move(field_errors), 0));
    if (ready_to_go(def, next.object())) return removal_of(std::move(next));
    return settle_with(def, stored, std::move(next), false);
}

/// Of a write to a pod's ephemeral containers: the rest of what was sent does not count.
StatusResult<NextState> decide_ephemeral_containers(const ResourceDef& def,
                                                    const json::value& current,
                                                    DecodedObject proposed,
                                                    const Ownership& ownership) {
    const json::object& stored = current.get_object();
    set_defaults(def, proposed);
    const json::object& sent = proposed.object.object();
    const json::value* containers = child(sent, "spec").if_contains("ephemeralContainers");
    kube::Document next(current, containers == nullptr ? 0 : 2 * kube::tree_bytes(*containers));
    json::object& spec = ensure_object(next.object(), "spec");
    if (containers == nullptr)
        spec.erase("ephemeralContainers");
    else
        spec["ephemeralContainers"] = *containers;
    if (ownership.kind == Ownership::Kind::kWrite)
        TRY_VOID(track_write(def, current, next.value(), ownership));
    if (ownership.kind == Ownership::Kind::kApplied)
        restore(ensure_object(next.object(), "metadata"), metadata_of(sent), "managedFields");
    FieldErrors field_errors = std::move(proposed.field_errors);
    std::erase_if(field_errors, [](const Cause& cause) {
        return !cause.field.starts_with("spec.ephemeralContainers");
    });
    const std::size_t structural = field_errors.size();
    def.strategy.validate_ephemeral(next.object(), stored, field_errors);
    if (!field_errors.empty())
        return refused(def, std::move(next),
                       without_repeats(def, std::move(field_errors), structural));
    return settle(def, current, std::move(next));
}

}  // namespace

NextState settle(const ResourceDef& def, const json::value& current, kube::Document next) {
    json::object& fields = next.object();
    const json::object& stored = current.get_object();
    restore(ensure_object(fields, "metadata"), metadata_of(stored), "generation");
    if (ready_to_go(def, fields)) return removal_of(std::move(next));
    const bool wants_otherwise = desired_state_differs(def, fields, stored);
    return settle_with(def, stored, std::move(next), wants_otherwise);
}

StatusResult<NextState> decide_update(const ResourceDef& def, const json::value& current,
                                      DecodedObject proposed, const std::string& subresource,
                                      WriteKind write, const Ownership& ownership) {
    const json::object& stored = current.get_object();
    json::object& next = proposed.object.object();
    TRY_VOID(check_identity(def, stored, next, write));
    if (subresource == "status")
        return decide_status_update(def, current, std::move(proposed), ownership);
    if (subresource == "ephemeralcontainers")
        return decide_ephemeral_containers(def, current, std::move(proposed), ownership);
    restore_system_metadata(next, stored);
    restore(next, stored, "apiVersion");

    FieldErrors field_errors = std::move(proposed.field_errors);
    if (def.has_status) {
        proposed.well_formed &= next.contains("status") == stored.contains("status");
        restore(next, stored, "status");
    }
    set_defaults(def, proposed);
    // As upstream, before what the kind takes from the stored state.
    if (ownership.kind == Ownership::Kind::kWrite)
        TRY_VOID(track_write(def, current, proposed.object.value(), ownership));
    if (def.strategy.prepare_update != nullptr) def.strategy.prepare_update(next, stored);
    if (!def.custom) forget_stored_parts(next, stored, field_errors);
    const std::size_t structural = field_errors.size();
    validate_object(def, proposed.object.value(), &current, proposed.well_formed, field_errors);
    if (!def.custom) forget_stored_parts(next, stored, field_errors);
    if (def.strategy.validate_update != nullptr)
        def.strategy.validate_update(next, stored, field_errors);
    check_new_finalizers(next, stored, field_errors);
    if (!field_errors.empty())
        return refused(def, std::move(proposed.object),
                       without_repeats(def, std::move(field_errors), structural));
    return settle(def, current, std::move(proposed.object));
}

StatusResult<void> validate_new(const ResourceDef& def, const DecodedObject& decoded) {
    FieldErrors field_errors = decoded.field_errors;
    validate_object(def, decoded.object.value(), nullptr, decoded.well_formed, field_errors);
    if (def.strategy.validate_create != nullptr)
        def.strategy.validate_create(decoded.object.object(), field_errors);
    if (field_errors.empty()) return {};
    return invalid(def.type, name_of(decoded.object.object()),
                   without_repeats(def, std::move(field_errors), decoded.field_errors.size()));
}

}  // namespace muster::apiserver
