#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jobs/kind.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
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

/// Caches of all owned objects, one watch for each type that one of the kinds owns; none without
/// such a kind. Thread: one loop.
class OwnedObjectCaches {
  public:
    /// Called with each state of an owned object, before and after.
    using Changed = std::function<void(const OwnedObjectRecord&)>;

    OwnedObjectCaches(kube::Client& client, Clock& clock, Rng& rng,
                      std::span<const jobs::JobKind* const> kinds, const std::string& namespace_,
                      const Changed& changed);

    void start(TaskGroup& tasks);
    Task<void> wait_synced();

    /// Null when there is none, or it carries no job's label.
    OwnedObjectPtr find(const kube::ResourceType& type, const std::string& namespace_,
                        const std::string& name) const;

  private:
    struct OfType {
        kube::ResourceType type;
        std::unique_ptr<kube::Informer<OwnedObjectPtr>> informer;
    };
    std::vector<OfType> types_;
};

}  // namespace muster::operators
