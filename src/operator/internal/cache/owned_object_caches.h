#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "jobs/kind.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/internal/cache/owned_objects.h"

namespace muster::operators {

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
