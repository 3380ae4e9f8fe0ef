#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/values/json.h"
#include "kube/values/namespaced_name.h"

namespace muster::kube {

// Reads of JSON of uncertain shape: a value that is absent or of another type reads as nothing.

inline const json::object* object_at(const json::object& parent, std::string_view key) {
    const json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}
inline json::object* object_at(json::object& parent, std::string_view key) {
    json::value* value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}
/// The object at the key; an empty one when there is none.
inline const json::object& child(const json::object& parent, std::string_view key) {
    static const json::object kNone;
    const json::object* found = object_at(parent, key);
    return found == nullptr ? kNone : *found;
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
/// The objects of a list.
std::vector<const json::object*> objects_at(const json::object& parent, std::string_view key);
/// The strings of a list.
std::vector<std::string> strings_at(const json::object& parent, std::string_view key);
/// Looks up "spec.a.b"; null if absent.
const json::value* value_at_path(const json::object& object, std::string_view dotted);

// An API object is a JSON object with a metadata object.

inline const json::object& metadata_of(const json::object& object) {
    return child(object, "metadata");
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
inline NamespacedName namespaced_name_of(const json::object& object) {
    return {std::string(namespace_of(object)), std::string(name_of(object))};
}
inline std::string_view uid_of(const json::object& object) {
    return string_at(metadata_of(object), "uid");
}
inline bool is_deleting(const json::object& object) {
    return !string_at(metadata_of(object), "deletionTimestamp").empty();
}

}  // namespace muster::kube
