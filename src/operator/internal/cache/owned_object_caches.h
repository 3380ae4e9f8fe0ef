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

/// Caches of all owned objects, with one watch for each type that any of the kinds owns on this
/// platform. Thread: one loop.
class OwnedObjectCaches {
  public:
    OwnedObjectCaches(kube::Client& client, Clock& clock, Rng& rng,
                      std::span<const jobs::JobKind* const> kinds, const jobs::Platform& platform,
                      const std::string& namespace_, const OwnedObjectChanged& changed);

    void start(TaskGroup& tasks);
    Task<void> wait_synced();

    /// Null if there is none, or it has no job's label.
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
