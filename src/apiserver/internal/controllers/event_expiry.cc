#include "apiserver/internal/controllers/event_expiry.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

const std::string kEvents = "events";

void note(std::optional<WallTime>& latest, std::string_view time) {
    const std::optional<WallTime> read = kube::parse_time(time);
    if (read && (!latest || *read > *latest)) latest = read;
}

}  // namespace

std::optional<WallTime> last_write_of(const json::object& event) {
    std::optional<WallTime> latest;
    const json::object& meta = metadata_of(event);
    note(latest, string_at(meta, "creationTimestamp"));
    note(latest, string_at(event, "lastTimestamp"));
    if (const json::object* series = object_at(event, "series"))
        note(latest, string_at(*series, "lastObservedTime"));
    if (const json::array* owners = array_at(meta, "managedFields"))
        for (const json::value& owner : *owners)
            if (owner.is_object()) note(latest, string_at(owner.get_object(), "time"));
    return latest;
}

EventExpiry::EventExpiry(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("ends of events", state.tasks, state.clock,
             [this](NamespacedName key) { return remove(std::move(key)); }) {}

void EventExpiry::recover(const StartingObject& object) {
    if (object.key.resource != kEvents) return;
    // A time of the future, of a clock that was wrong, counts as now.
    const WallTime now = state_.clock.wall_now();
    const WallTime written = last_write_of(object.cached.tree()->get_object()).value_or(now);
    expire_after({object.key.namespace_, object.key.name}, std::min(written, now));
}

void EventExpiry::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.key.resource != kEvents) return;
    const NamespacedName key{change.key.namespace_, change.key.name};
    if (change.object == nullptr)
        queue_.forget(key);
    else
        expire_after(key, state_.clock.wall_now());
}

void EventExpiry::expire_after(NamespacedName key, WallTime written) {
    const WallTime end = written + state_.options.event_ttl;
    // Those that are over within a minute go together.
    queue_.add_at(std::move(key), std::chrono::ceil<std::chrono::minutes>(end));
}

Task<StatusResult<void>> EventExpiry::remove(NamespacedName key) {
    const Writer::Change change = [this, key](const json::value&) -> StatusResult<NextState> {
        // Written once more meanwhile: it has a new end.
        const bool is_over = !queue_.waits(key);
        return NextState{is_over ? NextState::Kind::kRemove : NextState::Kind::kKeep};
    };
    co_return done_unless(co_await writer_.rewrite(state_.registry.find("v1", kEvents),
                                                   key.namespace_, key.name, change),
                          {Code::kNotFound, Code::kConflict});
}

}  // namespace muster::apiserver
