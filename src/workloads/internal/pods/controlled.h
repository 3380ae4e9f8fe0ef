#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "kube/objects/core_objects.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json_access.h"

namespace muster::workloads {

/// An object that controls others.
struct Owner {
    kube::ResourceType type;
    kube::NamespacedName name;
    std::string uid;

    /// How its Events name it.
    kube::ObjectReference reference() const;
    /// How what it controls names it: {"apiVersion", "kind", "name", "uid", ...}.
    json::object owner_reference() const;
};

/// The object at the key, which is made if it is not there.
json::object& object_in(json::object& parent, std::string_view key);

/// Whether the object with this uid controls it.
bool is_controlled_by(const json::object& object, std::string_view uid);

/// "namespace/name", as queues name objects.
kube::NamespacedName name_of_key(std::string_view key);

Owner owner_of(const kube::ResourceType& type, const json::object& object);

/// A new object of its own from a template's labels, annotations, finalizers and spec.
json::object from_template(const json::object& template_, const Owner& owner);

}  // namespace muster::workloads
