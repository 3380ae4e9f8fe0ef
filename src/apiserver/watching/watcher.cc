#include "apiserver/watching/watcher.h"

#include <boost/asio/post.hpp>

#include "apiserver/objects/json_access.h"
#include "apiserver/resources/version_conversion.h"
#include "apiserver/watching/watch_cache.h"
#include "base/async/task_fault.h"
#include "base/fault.h"
#include "base/time/loop_watch.h"

namespace muster::apiserver {

namespace {
// A client should learn a late revision before its watch times out.
constexpr Duration kLastBookmark = std::chrono::seconds(2);
/// How many initial objects are looked at before others have their turn, where no one measures it.
constexpr int kObjectsPerTurn = 128;
}  // namespace

Watcher::Watcher(const asio::any_io_executor& executor, DefPtr def, Selection selection,
                 Settings settings)
    : def_(std::move(def)),
      selection_(std::move(selection)),
      settings_(settings),
      selects_late_(def_->webhook_conversion != nullptr &&
                    (!def_->storage_version || def_->stored_in_several) &&
                    selection_.reads_objects()),
      changed_(executor) {}

Watcher::~Watcher() {
    if (cache_ != nullptr) cache_->remove(*this);
}

Task<Result<std::optional<kube::WatchEvent>>> Watcher::next() {
    const std::optional<WatchedEvent> event = co_await wait_next();
    if (!event) co_return std::optional<kube::WatchEvent>();
    co_return kube::WatchEvent{event->type, event->object()};
}

Task<std::optional<WatchedEvent>> Watcher::next_text() {
    takes_turns_ = true;
    return wait_next();
}

Task<std::optional<WatchedEvent>> Watcher::wait_next() {
    for (;;) {
        const bool more = !pending_.empty() || !initial_.empty();
        if (more && turn_is_long()) co_await asio::post(asio::use_awaitable);
        if (std::optional<Pending> pending = take()) {
            if (!show_ || pending->event.text == nullptr) co_return std::move(pending->event);
            std::optional<WatchedEvent> event = co_await shown(*std::move(pending));
            if (event) co_return event;
            continue;
        }
        if (!initial_.empty())
            co_await asio::post(asio::use_awaitable);
        else if (ended_)
            co_return std::nullopt;
        else
            co_await changed_.wait();
    }
}

Task<StatusResult<std::optional<WatchedEvent>>> Watcher::selected(Pending pending) {
    using enum kube::WatchEventType;
    kube::WatchEventType type = pending.event.type;
    CO_TRY(store::ObjectTextPtr object, co_await show_(std::move(pending.event.text)));
    if (pending.to_select) {
        store::ObjectTextPtr previous;
        if (pending.previous != nullptr) {
            CO_TRY(previous, co_await show_(std::move(pending.previous)));
        }
        const bool was = previous != nullptr && selection_.matches(*previous);
        const bool is = type != kDeleted && selection_.matches(*object);
        if (!was && !is) co_return std::optional<WatchedEvent>();
        if (!was) type = kAdded;
        if (was && !is && type != kDeleted) {
            type = kDeleted;
            object =
                store::ObjectText::of(with_resource_version(*previous->tree(), pending.revision));
        }
    }
    kube::ObjectPtr tree = object->tree_in_use();
    co_return std::optional(WatchedEvent{type, std::move(object), std::move(tree)});
}

Task<std::optional<WatchedEvent>> Watcher::shown(Pending pending) {
    StatusResult<std::optional<WatchedEvent>> made = co_await selected(std::move(pending));
    if (made) co_return *std::move(made);
    // Later events would leave a gap: the client has to list again.
    initial_.clear();
    pending_.clear();
    end();
    co_return WatchedEvent{
        kube::WatchEventType::kError, nullptr,
        std::make_shared<const json::value>(kube::status_from_error(made.error().error))};
}

std::optional<WatchedEvent> Watcher::try_next() {
    std::optional<Pending> pending;
    if (!show_) pending = take();
    return pending ? std::optional(std::move(pending->event)) : std::nullopt;
}

std::optional<Watcher::Pending> Watcher::take() {
    for (int looked_at = 0; !initial_.empty(); ++looked_at) {
        if (looked_at == kObjectsPerTurn || turn_is_long()) return std::nullopt;
        store::ObjectTextPtr object = std::move(initial_.front());
        initial_.pop_front();
        if (selects_late_ || !selection_.has_selectors() || selection_.matches(*object))
            return Pending{.event = event_of(kube::WatchEventType::kAdded, std::move(object)),
                           .to_select = selects_late_};
    }
    if (pending_.empty()) return std::nullopt;
    std::optional<Pending> first = std::move(pending_.front());
    pending_.pop_front();
    return first;
}

WatchedEvent Watcher::event_of(kube::WatchEventType type, store::ObjectTextPtr object) const {
    object = in_version(*def_, std::move(object));
    kube::ObjectPtr tree = object->tree_in_use();
    return {type, std::move(object), std::move(tree)};
}

void Watcher::push(kube::WatchEventType type, store::ObjectTextPtr object) {
    push(Pending{event_of(type, std::move(object))});
}

void Watcher::push(Pending pending) {
    pending_.push_back(std::move(pending));
    wake();
}

void Watcher::wake() {
    if (!takes_turns_ || cache_ == nullptr) return changed_.notify_all();
    if (std::exchange(waits_turn_, true)) return;
    cache_->fan_out_.add(*this);
}

void Watcher::take_turn() {
    waits_turn_ = false;
    changed_.notify_all();
}

void Watcher::add_initial(store::ObjectTextPtr object) { initial_.push_back(std::move(object)); }

void Watcher::offer(const CacheEvent& event) {
    using enum kube::WatchEventType;
    if (ended_ || event.revision <= settings_.after) return;
    kube::WatchEventType type = event.type;
    store::ObjectTextPtr object = event.object;
    if (selection_.has_selectors() && !selects_late_) {
        const bool was = event.previous != nullptr && selection_.matches(*event.previous);
        const bool is = event.type != kDeleted && selection_.matches(*event.object);
        if (!was && !is) return;
        if (!was) type = kAdded;
        if (was && !is && event.type != kDeleted) {
            type = kDeleted;
            if (event.left == nullptr)
                event.left = store::ObjectText::of(
                    with_resource_version(*event.previous->tree(), event.revision));
            object = event.left;
        }
    }
    if (pending_.size() >= settings_.buffer || fault_point()) {
        initial_.clear();
        pending_.clear();
        expire(fmt::format("the watch fell more than {} events behind and was ended",
                           settings_.buffer));
        return;
    }
    TaskFault::strike("watch");
    if (selects_late_)
        push(Pending{event_of(type, std::move(object)), event.previous, event.revision, true});
    else
        push(type, std::move(object));
}

void Watcher::add_bookmark(store::Revision revision, bool initial_events_end) {
    json::object meta{{"resourceVersion", std::to_string(revision)}};
    if (initial_events_end) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    json::object bookmark{{"kind", def_->type.kind},
                          {"apiVersion", def_->type.api_version()},
                          {"metadata", std::move(meta)}};
    push(Pending{{kube::WatchEventType::kBookmark, nullptr,
                  std::make_shared<const json::value>(std::move(bookmark))}});
}

void Watcher::expire(std::string message) {
    if (ended_) return;
    const Error error(Code::kGone, std::move(message));
    pending_.push_back({{kube::WatchEventType::kError, nullptr,
                         std::make_shared<const json::value>(kube::status_from_error(error))}});
    end();
}

void Watcher::end() {
    ended_ = true;
    changed_.notify_all();
}

void Watcher::on_deadline(Instant now, store::Revision revision) {
    if (now >= settings_.timeout) {
        end();
        return;
    }
    if (pending_.size() < settings_.buffer)
        add_bookmark(std::max(revision, settings_.after), false);
    schedule_bookmark(now);
}

void Watcher::schedule_bookmark(Instant now) {
    if (!settings_.bookmarks) return;
    const Instant last = settings_.timeout - kLastBookmark;
    const Instant regular = now + settings_.bookmark_interval;
    // The last one comes shortly before the timeout and not twice.
    next_bookmark_ = now < last ? std::min(regular, last) : Instant::max();
}

}  // namespace muster::apiserver
