#include "operator/internal/cache/owned_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/parse_number.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::operators {
namespace {

/// The member at a dotted path, created with the objects on the way.
json::value& place(json::object& object, std::string_view path) {
    json::value* at = &object[take_field(path, '.')];
    while (!path.empty()) {
        if (!at->is_object()) *at = json::object();
        at = &at->get_object()[take_field(path, '.')];
    }
    return *at;
}

std::int32_t in_a_row_of(const kube::ObjectMeta& metadata) {
    const auto found = metadata.annotations.find(std::string(jobs::annotations::kInARow));
    if (found == metadata.annotations.end()) return 0;
    return std::max(parse_number<std::int32_t>(found->second).value_or(0), 0);
}

}  // namespace

OwnedObjectRecord project_owned_object(const kube::ResourceType& type, const json::value& object) {
    OwnedObjectRecord record;
    const kube::ObjectMeta metadata = metadata_of(object);
    record.kind = type.kind;
    record.namespace_ = metadata.namespace_;
    record.name = metadata.name;
    record.uid = metadata.uid;
    record.deleting = metadata.deleting();
    record.created = kube::parse_time(metadata.creation_timestamp).value_or(WallTime{});
    record.in_a_row = in_a_row_of(metadata);
    if (const kube::OwnerReference* owner = metadata.controller()) {
        record.owner_kind = owner->kind;
        record.owner_name = owner->name;
        record.owner_uid = JobUid(owner->uid);
    }
    if (const json::object* status = kube::object_at(object.get_object(), "status"))
        record.phase = kube::string_at(*status, "phase");
    for (const auto& [key, value] : object.get_object()) {
        if (key == "apiVersion" || key == "kind" || key == "metadata" || key == "status") continue;
        const bool only_keys =
            key == "binaryData" || (type == kube::types::kSecrets && key == "data");
        json::value& kept = record.content[key];
        if (!only_keys || !value.is_object()) {
            kept = value;
            continue;
        }
        kept.emplace_object();
        for (const auto& entry : value.get_object()) kept.get_object()[entry.key()] = true;
    }
    return record;
}

std::string owner_text(const kube::ObjectMeta& metadata) {
    const kube::OwnerReference* owner = metadata.controller();
    if (owner == nullptr) return "has no owner";
    return fmt::format("belongs to {} {} (uid {})", owner->kind, owner->name, owner->uid);
}

namespace {

bool is_missing(const json::object& content, const std::string& path) {
    const json::value* found = kube::value_at_path(content, path);
    return found == nullptr || (found->is_string() && found->get_string().empty());
}

/// Removes the member at a dotted path, if it exists.
void remove_place(json::object& object, const std::string& path) {
    if (kube::value_at_path(object, path) == nullptr) return;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos)
        object.erase(path);
    else
        place(object, std::string_view(path).substr(0, dot))
            .get_object()
            .erase(path.substr(dot + 1));
}

}  // namespace

bool differs(const json::object& content, const jobs::OwnedObject& wanted) {
    const auto is_wrong = [&](const std::string& path) {
        const json::value* is = kube::value_at_path(content, path);
        const json::value* should = kube::value_at_path(wanted.content, path);
        if (is == nullptr || should == nullptr) return is != should;
        return !kube::equal(*is, *should);
    };
    return std::ranges::any_of(wanted.kept, is_wrong) ||
           std::ranges::any_of(wanted.made_once,
                               [&](const std::string& path) { return is_missing(content, path); });
}

json::object corrected(json::object object, const jobs::OwnedObject& wanted) {
    const auto take = [&](const std::string& path) {
        if (const json::value* should = kube::value_at_path(wanted.content, path))
            place(object, path) = *should;
    };
    for (const std::string& path : wanted.kept) {
        take(path);
        if (kube::value_at_path(wanted.content, path) == nullptr) remove_place(object, path);
    }
    // All or none: halves of two keys would not fit together.
    if (std::ranges::any_of(wanted.made_once,
                            [&](const std::string& path) { return is_missing(object, path); }))
        for (const std::string& path : wanted.made_once) take(path);
    return object;
}

}  // namespace muster::operators
