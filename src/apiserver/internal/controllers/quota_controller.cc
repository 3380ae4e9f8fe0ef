#include "apiserver/internal/controllers/quota_controller.h"

#include <limits>

#include "apiserver/objects/json_access.h"
#include "base/time/restarting_task.h"

namespace muster::apiserver {

namespace {

constexpr const char* kQuotas = "resourcequotas";
constexpr std::size_t kCountedAtOnce = 128;

json::object quantities(const ResourceList& list) {
    json::object object;
    for (const auto& [name, amount] : list) object.emplace(name, amount.to_string());
    return object;
}

}  // namespace

QuotaController::QuotaController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("resource quotas", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }),
      alarm_(state.executor, state.clock, [this] { count_ended(); }) {}

void QuotaController::recover(const StartingObject& object) {
    if (object.key.resource != kQuotas) return;
    const NamespacedName key{object.key.namespace_, object.key.name};
    state_.quotas.put(key, object.cached.tree()->get_object());
    // No client waits for the loop yet, and the first ones would be refused until it is counted.
    state_.quotas.count(key, state_.cache, std::numeric_limits<std::size_t>::max(),
                        state_.clock.wall_now());
    set_alarm();
    queue_.add(key);
}

void QuotaController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.key.resource == kQuotas) {
        const NamespacedName key{change.key.namespace_, change.key.name};
        if (change.object == nullptr) {
            state_.quotas.remove(key);
        } else {
            state_.quotas.put(key, change.object->get_object());
            state_.quotas.count(key, state_.cache, kCountedAtOnce, state_.clock.wall_now());
            queue_.add(key);
        }
    }
    for (NamespacedName& changed : state_.quotas.observe(change, state_.clock.wall_now()))
        queue_.add(std::move(changed));
    set_alarm();
}

void QuotaController::count_ended() {
    for (NamespacedName& changed :
         state_.quotas.count_ended(state_.cache, kCountedAtOnce, state_.clock.wall_now()))
        queue_.add(std::move(changed));
    set_alarm();
}

void QuotaController::set_alarm() {
    std::optional<WallTime> when = state_.quotas.first_end();
    // It still counts at that very time.
    if (when) *when += Duration(1);
    alarm_.set(when);
    if (!when || std::exchange(alarm_runs_, true)) return;
    spawn_restarting(state_.tasks, state_.clock, "ends of pods that count in quotas", [this] {
        set_alarm();  // what a fault has left
        return alarm_.run();
    });
}

Task<StatusResult<void>> QuotaController::reconcile(NamespacedName key) {
    const WallTime now = state_.clock.wall_now();
    if (!state_.quotas.count(key, state_.cache, kCountedAtOnce, now)) {
        queue_.add(std::move(key));
        co_return StatusResult<void>();
    }
    const DefPtr def = state_.registry.find("v1", kQuotas);
    Writer::Change change = [this, def, key](const json::value& current) {
        const QuotaAccount* account = state_.quotas.counted(key);
        if (account == nullptr) return StatusResult<NextState>(NextState{});
        const json::value status{{"hard", quantities(account->hard())},
                                 {"used", quantities(account->used())}};
        kube::Document next(current, kube::tree_bytes(status));
        next.object()["status"] = status;
        return StatusResult<NextState>(settle(*def, current, std::move(next)));
    };
    co_return done_unless(
        co_await writer_.rewrite(def, key.namespace_, key.name, std::move(change)),
        {Code::kNotFound});
}

}  // namespace muster::apiserver
