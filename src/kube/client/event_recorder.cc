#include "kube/client/event_recorder.h"

#include <boost/json/value.hpp>
#include <deque>

#include "base/async/cancellation.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"
#include "base/utf8.h"
#include "kube/internal/client/event_correlator.h"
#include "kube/objects/api_status.h"
#include "kube/values/time.h"

namespace muster::kube {
namespace {

constexpr std::size_t kQueueLimit = 1000;
constexpr int kTries = 12;
constexpr Duration kRetryDelay = std::chrono::seconds(10);

json::object reference_json(const ObjectReference& about) {
    json::object out;
    auto put = [&out](std::string_view key, const std::string& value) {
        if (!value.empty()) out.emplace(key, value);
    };
    put("kind", about.kind);
    put("namespace", about.namespace_);
    put("name", about.name);
    put("uid", about.uid);
    put("apiVersion", about.api_version);
    put("resourceVersion", about.resource_version);
    put("fieldPath", about.field_path);
    return out;
}

}  // namespace

struct EventRecorder::State {
    State(Client& c, Clock& k, Rng& r, TaskGroup& t, std::string component_name,
          std::string host_name)
        : client(c),
          clock(k),
          rng(r),
          tasks(t),
          component(std::move(component_name)),
          host(std::move(host_name)),
          written(t.executor()) {}

    json::value event_json(const Occurrence& occurrence, const EventWrite& write) const;
    Task<void> send_all();
    Task<void> send(Occurrence occurrence, EventWrite write);
    Task<Result<void>> try_write(Occurrence occurrence, EventWrite write);

    Client& client;
    Clock& clock;
    Rng& rng;
    TaskGroup& tasks;
    std::string component;
    std::string host;
    EventCorrelator correlator;
    std::deque<std::pair<Occurrence, EventWrite>> queue;
    bool sending = false;
    std::uint64_t dropped = 0;  ///< since the queue was full
    std::uint64_t recorded = 0;
    std::uint64_t finished = 0;
    Signal written;  ///< `finished` grew, or the sender ended
};

EventRecorder::EventRecorder(Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                             std::string component, std::string host)
    : state_(std::make_unique<State>(client, clock, rng, tasks, std::move(component),
                                     std::move(host))) {}

EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const ObjectReference& about, EventType type, std::string reason,
                           std::string message) {
    State& state = *state_;
    Occurrence occurrence{about,
                          type == EventType::kNormal ? "Normal" : "Warning",
                          std::move(reason),
                          as_utf8(message),  // it may contain texts of programs
                          state.clock.now(),
                          state.clock.wall_now()};
    // Before the queue: a flood about one object takes no room from events about others.
    EventWrite write = state.correlator.observe(occurrence);
    if (write.action == EventWrite::Action::kDrop) {
        log::debug("event dropped", {{"about", about.kind + " " + about.name},
                                     {"reason", occurrence.reason},
                                     {"why", "too many about this object"}});
        return;
    }
    if (state.tasks.stopping() || state.queue.size() >= kQueueLimit) {
        // One line for a whole flood: the log must not drown in what the queue can't take.
        if (++state.dropped == 1)
            log::warning("event dropped, as all will be until the queue has room",
                         {{"about", about.kind + " " + about.name},
                          {"reason", occurrence.reason},
                          {"message", occurrence.message},
                          {"why", state.tasks.stopping() ? "stopping" : "queue full"}});
        return;
    }
    if (state.dropped > 0)
        log::warning("events were dropped", {{"count", std::exchange(state.dropped, 0)}});
    state.queue.emplace_back(std::move(occurrence), std::move(write));
    ++state.recorded;
    if (state.sending) return;
    state.sending = true;
    spawn_restarting(state.tasks, state.clock, "event recorder",
                     [&state] { return state.send_all(); });
}

Task<void> EventRecorder::flush() {
    State& state = *state_;
    const std::uint64_t wanted = state.recorded;
    while (state.finished < wanted && state.sending && !state.tasks.stopping())
        co_await state.written.wait();
}

Task<void> EventRecorder::State::send_all() {
    // Even when cancelled: flush() must not wait for a sender that is gone.
    struct AtEnd {
        State& state;
        ~AtEnd() {
            state.sending = false;
            state.written.notify_all();
        }
    } at_end{*this};
    while (!queue.empty()) {
        auto [occurrence, write] = std::move(queue.front());
        queue.pop_front();
        try {
            co_await send(std::move(occurrence), std::move(write));
        } catch (...) {
            if (is_cancellation(std::current_exception())) throw;
            report_unexpected("writing an event", std::current_exception());
        }
        ++finished;
        written.notify_all();
    }
}

Task<void> EventRecorder::State::send(Occurrence occurrence, EventWrite write) {
    for (int tries = 1;; ++tries) {
        Result<void> result = co_await try_write(occurrence, write);
        if (result) co_return;
        const Error& error = result.error();
        // Every answer is final.
        if (!is_unanswered(error) || tries == kTries) {
            log::warning("event not written",
                         {{"about", occurrence.about.kind + " " + occurrence.about.name},
                          {"reason", occurrence.reason},
                          {"message", occurrence.message},
                          {"error", error.message()}});
            co_return;
        }
        Duration delay = kRetryDelay;
        // Recorders that lost the same server must not all return at the same moment.
        if (tries == 1)
            delay = Duration(
                static_cast<Duration::rep>(rng.unit() * static_cast<double>(delay.count())));
        co_await clock.sleep_for(delay);
    }
}

Task<Result<void>> EventRecorder::State::try_write(Occurrence occurrence, EventWrite write) {
    const std::string ns =
        occurrence.about.namespace_.empty() ? "default" : occurrence.about.namespace_;
    if (write.action == EventWrite::Action::kRaiseCount) {
        json::object patch;
        patch.emplace("message", write.message);
        patch.emplace("count", write.count);
        patch.emplace("lastTimestamp", format_time(write.last));
        Result<Written> patched = co_await client.patch(
            types::kEvents, ns, write.name, ContentType::kStrategicMergePatch, std::move(patch));
        if (patched) co_return Result<void>();
        // Deleted after its time to live, or never written: create it again.
        if (patched.error().code() != Code::kNotFound) co_return std::move(patched.error());
    }
    json::value object = event_json(occurrence, write);
    Result<Written> created = co_await client.create(types::kEvents, ns, std::move(object));
    // Only we make these names: an existing one is our own create, whose answer was lost.
    if (created || created.error().code() == Code::kAlreadyExists) co_return Result<void>();
    co_return std::move(created.error());
}

json::value EventRecorder::State::event_json(const Occurrence& occurrence,
                                             const EventWrite& write) const {
    json::object metadata;
    metadata.emplace("name", write.name);
    metadata.emplace("namespace",
                     occurrence.about.namespace_.empty() ? "default" : occurrence.about.namespace_);
    json::object source;
    source.emplace("component", component);
    if (!host.empty()) source.emplace("host", host);
    json::object event;
    event.emplace("apiVersion", "v1");
    event.emplace("kind", "Event");
    event.emplace("metadata", std::move(metadata));
    event.emplace("involvedObject", reference_json(occurrence.about));
    event.emplace("reason", occurrence.reason);
    event.emplace("message", write.message);
    event.emplace("source", std::move(source));
    event.emplace("firstTimestamp", format_time(write.first));
    event.emplace("lastTimestamp", format_time(write.last));
    event.emplace("count", write.count);
    event.emplace("type", occurrence.type);
    event.emplace("eventTime", nullptr);
    event.emplace("reportingComponent", component);
    event.emplace("reportingInstance", host);
    return event;
}

}  // namespace muster::kube
