#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/values/json_access.h"

namespace muster::apiserver {

// Reads of JSON of uncertain shape, and what is needed to change it.

using kube::array_at;
using kube::bool_at;
using kube::child;
using kube::int_at;
using kube::is_deleting;
using kube::metadata_of;
using kube::name_of;
using kube::namespace_of;
using kube::object_at;
using kube::objects_at;
using kube::string_at;
using kube::strings_at;
using kube::uid_of;
using kube::value_at_path;

/// The object at the key, created if there is none.
inline json::object& ensure_object(json::object& parent, std::string_view key) {
    json::value& value = parent[key];
    if (!value.is_object()) value.emplace_object();
    return value.get_object();
}
inline void set_default(json::object& parent, std::string_view key, const json::value& value) {
    json::value& slot = parent[key];
    if (slot.is_null()) slot = value;
}
/// Calls `function` with each object of the list at the key, if there is one.
template <class Function>
void for_each_object(json::object& parent, std::string_view key, Function function) {
    if (json::array* items = array_at(parent, key))
        for (json::value& item : *items)
            if (json::object* object = item.if_object()) function(*object);
}

// An API object is a JSON object with a metadata object; both are checked when it is decoded.

bool has_finalizers(const json::object& object);
bool has_finalizer(const json::object& object, std::string_view finalizer);
/// A copy with another resourceVersion.
kube::ObjectPtr with_resource_version(const json::value& object, std::uint64_t revision);
/// Sets "spec.a.b", creating the objects on the way.
void set_at_path(json::object& object, std::string_view dotted, json::value value);

}  // namespace muster::apiserver
