#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace muster::apiserver {

// Reads of JSON whose shape is not certain: what is absent or of another type reads as nothing.

inline const json::object* object_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}
inline json::object* object_at(json::object& parent, std::string_view key) {
    json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}
inline const json::array* array_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_array();
}
inline json::array* array_at(json::object& parent, std::string_view key) {
    json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_array();
}
inline std::string_view string_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    if (value == nullptr) return {};
    const json::string* text = value->if_string();
    return text == nullptr ? std::string_view() : std::string_view(*text);
}
inline std::optional<std::int64_t> int_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    if (value == nullptr) return std::nullopt;
    if (const std::int64_t* number = value->if_int64()) return *number;
    return std::nullopt;
}
inline bool bool_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    const bool* flag = value == nullptr ? nullptr : value->if_bool();
    return flag != nullptr && *flag;
}
/// The strings of a list.
std::vector<std::string> strings_at(const json::object& parent, std::string_view key);
/// The object at the key, made when there is none.
inline json::object& ensure_object(json::object& parent, std::string_view key) {
    json::value& value = parent[key];
    if (!value.is_object()) value.emplace_object();
    return value.get_object();
}
inline void set_default(json::object& parent, std::string_view key, json::value value) {
    json::value& slot = parent[key];
    if (slot.is_null()) slot = std::move(value);
}

// An API object is a JSON object with a metadata object; both are checked when it is decoded.

inline const json::object& metadata_of(const json::object& object) {
    static const json::object kNone;
    const json::object* meta = object_at(object, "metadata");
    return meta == nullptr ? kNone : *meta;
}
inline const json::object& metadata_of(const json::value& object) {
    return metadata_of(object.get_object());
}
inline std::string_view name_of(const json::object& object) {
    return string_at(metadata_of(object), "name");
}
inline std::string_view namespace_of(const json::object& object) {
    return string_at(metadata_of(object), "namespace");
}
inline std::string_view uid_of(const json::object& object) {
    return string_at(metadata_of(object), "uid");
}
inline bool is_deleting(const json::object& object) {
    return !string_at(metadata_of(object), "deletionTimestamp").empty();
}
bool has_finalizers(const json::object& object);
bool has_finalizer(const json::object& object, std::string_view finalizer);
/// A copy that carries another resourceVersion.
kube::ObjectPtr with_resource_version(const json::value& object, std::uint64_t revision);
/// Sets "spec.a.b", and makes the objects on the way.
void set_at_path(json::object& object, std::string_view dotted, json::value value);
/// Looks up "spec.a.b"; null when absent.
const json::value* value_at_path(const json::object& object, std::string_view dotted);

}  // namespace muster::apiserver
