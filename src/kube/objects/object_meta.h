#pragma once

#include <boost/describe/class.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/values/json.h"
#include "kube/values/namespaced_name.h"

namespace muster::kube {

// The structs of this folder have only the fields that decisions read; every other key of the JSON
// is kept in `rest` and written back unchanged. Member names are the JSON names in snake_case
// (codec.h); a trailing '_' is dropped. Times are RFC 3339 strings (time.h parses them).

struct OwnerReference {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    std::optional<bool> controller;
    std::optional<bool> block_owner_deletion;

    friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};
BOOST_DESCRIBE_STRUCT(OwnerReference, (),
                      (api_version, kind, name, uid, controller, block_owner_deletion))

struct ObjectMeta {
    std::string name;
    std::string generate_name;
    std::string namespace_;
    std::string uid;
    std::string resource_version;
    std::optional<std::int64_t> generation;
    std::string creation_timestamp;
    std::string deletion_timestamp;
    std::optional<std::int64_t> deletion_grace_period_seconds;
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> annotations;
    std::vector<OwnerReference> owner_references;
    std::vector<std::string> finalizers;
    json::object rest;

    NamespacedName namespaced_name() const { return {namespace_, name}; }
    bool deleting() const { return !deletion_timestamp.empty(); }
    /// The owner with controller=true, or null.
    const OwnerReference* controller() const {
        for (const OwnerReference& owner : owner_references)
            if (owner.controller.value_or(false)) return &owner;
        return nullptr;
    }
};
BOOST_DESCRIBE_STRUCT(ObjectMeta, (),
                      (name, generate_name, namespace_, uid, resource_version, generation,
                       creation_timestamp, deletion_timestamp, deletion_grace_period_seconds,
                       labels, annotations, owner_references, finalizers, rest))

}  // namespace muster::kube
