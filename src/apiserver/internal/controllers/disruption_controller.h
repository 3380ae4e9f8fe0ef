#pragma once

#include <map>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/disruption/budget.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Maintains the status of disruption budgets: how many pods they cover, how many of those are
/// healthy, and how many may be evicted. It follows the store's changes and counts, so that the
/// cost of a pod's change depends only on the number of budgets in its namespace, not on what they
/// cover.
class DisruptionController final : public Controller {
  public:
    DisruptionController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    void cover(const NamespacedName& key, const json::object& budget);
    void observe_pod(const store::StoreChange& change);
    std::optional<std::int64_t> scale_of(const std::string& namespace_,
                                         const PodController& controller) const;
    Task<StatusResult<void>> reconcile(NamespacedName key);

    ServerState& state_;
    Writer& writer_;
    struct Covered {
        std::optional<kube::LabelSelector> selector = std::nullopt;
        Coverage coverage = {};
    };
    std::map<NamespacedName, Covered> budgets_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
