#pragma once

#include <memory>
#include <string>

#include "jobs/kind.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// What the operator keeps of an owned object.
struct OwnedObjectRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string owner_kind;
    std::string owner_name;
    JobUid owner_uid;  ///< empty: nobody controls it
    bool deleting = false;
    std::string phase = {};  ///< of its status, where it has one
    /// All but apiVersion, kind, metadata and status; of a Secret's data the keys alone.
    json::object content;

    friend bool operator==(const OwnedObjectRecord&, const OwnedObjectRecord&) = default;
};
using OwnedObjectPtr = std::shared_ptr<const OwnedObjectRecord>;

OwnedObjectRecord project_owned_object(const kube::ResourceType& type, const json::value& object);

/// True when what is there is not what there is to be: one of the places that are kept differs, or
/// one that is made once is missing or an empty text.
bool differs(const json::object& content, const jobs::OwnedObject& wanted);

/// "belongs to PyTorchJob demo (uid 7)": who owns the object that has a name we want.
std::string owner_text(const kube::ObjectMeta& metadata);

/// `object` with the places that are kept as they are to be, and those that are made once from
/// `wanted` where they were missing.
json::object corrected(json::object object, const jobs::OwnedObject& wanted);

}  // namespace muster::operators
