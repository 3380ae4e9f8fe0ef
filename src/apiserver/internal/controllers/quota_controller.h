#pragma once

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "base/time/calendar_alarm.h"

namespace muster::apiserver {

/// Maintains the status of ResourceQuotas, and has Quotas count what they limit: a quota that is new
/// in a namespace with many objects is counted in pieces, between other work.
class QuotaController final : public Controller {
  public:
    QuotaController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(NamespacedName key);
    /// Counts pods again whose deletion hangs and whose time is over.
    void count_ended();
    /// Wakes when the next of them no longer counts.
    void set_alarm();

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<NamespacedName> queue_;
    CalendarAlarm alarm_;
    bool alarm_runs_ = false;
};

}  // namespace muster::apiserver
