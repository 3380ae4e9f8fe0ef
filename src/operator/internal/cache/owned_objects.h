#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "jobs/kind.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// Which of a job's owned objects.
struct OwnedObjectId {
    std::string kind;
    std::string name;

    friend auto operator<=>(const OwnedObjectId&, const OwnedObjectId&) = default;
};

/// What the operator keeps of an owned object.
struct OwnedObjectRecord {
    std::string kind;
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string owner_kind;
    std::string owner_name;
    JobUid owner_uid;  ///< empty if it has no controller
    bool deleting = false;
    WallTime created{};
    std::int32_t in_a_row = 0;  ///< from the annotation
    std::string phase = {};     ///< of its status, if it has one
    /// Everything but apiVersion, kind, metadata and status; of a Secret's data and of binary data,
    /// which may be large and are not compared, only the keys.
    json::object content;

    OwnedObjectId id() const { return {kind, name}; }
    friend bool operator==(const OwnedObjectRecord&, const OwnedObjectRecord&) = default;
};
using OwnedObjectPtr = std::shared_ptr<const OwnedObjectRecord>;
/// Called with the states of an owned object before and after a change; null: it does not exist.
using OwnedObjectChanged =
    std::function<void(const OwnedObjectPtr& before, const OwnedObjectPtr& after)>;

OwnedObjectRecord project_owned_object(const kube::ResourceType& type, const json::value& object);

/// Whether an object is not as it should be: one of the maintained paths differs, or one that is
/// made once is missing or empty.
bool differs(const json::object& content, const jobs::OwnedObject& wanted);

/// "belongs to PyTorchJob demo (uid 7)": the owner of an object whose name we want.
std::string owner_text(const kube::ObjectMeta& metadata);

/// `object` with the maintained paths corrected, and with those that are made once taken from
/// `wanted` if they were missing.
json::object corrected(json::object object, const jobs::OwnedObject& wanted);

}  // namespace muster::operators
