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
    void put_budget(const NamespacedName& key, const json::object& budget);
    /// Counts the pods of a budget whose selector is new, in turns of the loop. What changes meanwhile
    /// is observed.
    Task<void> find_pods(NamespacedName key);
    void observe_pod(const store::StoreChange& change);
    std::optional<std::int64_t> scale_of(const std::string& namespace_,
                                         const PodController& controller) const;
    Task<StatusResult<void>> reconcile(NamespacedName key);

    ServerState& state_;
    Writer& writer_;
    struct Covered {
        std::optional<kube::LabelSelector> selector = std::nullopt;
        Coverage coverage = {};
        bool has_pods = false;    ///< those that were there before it have been looked through
        std::uint64_t since = 0;  ///< differs with each selector
    };
    std::map<NamespacedName, Covered> budgets_;
    std::uint64_t selectors_ = 0;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
