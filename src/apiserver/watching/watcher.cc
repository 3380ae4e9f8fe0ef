#include "apiserver/watching/watcher.h"

#include <boost/asio/post.hpp>

#include "apiserver/objects/text_fields.h"
#include "apiserver/objects/tree_beside.h"
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

/// As what a change appears to who sees selected objects alone: before (`was`) and after (`is`).
/// Nullopt: not at all.
std::optional<kube::WatchEventType> appears_as(kube::WatchEventType type, bool was, bool is) {
    using enum kube::WatchEventType;
    if (!was && !is) return std::nullopt;
    if (!was) return kAdded;
    return is ? type : kDeleted;
}
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
    // Kept, so that it is not lost if the caller is cancelled while it is read.
    if (!reading_) reading_ = co_await wait_next();
    if (!reading_) co_return std::optional<kube::WatchEvent>();
    kube::ObjectPtr tree = reading_->tree;
    if (tree == nullptr) tree = co_await tree_beside(side_thread_, reading_->text);
    co_return kube::WatchEvent{std::exchange(reading_, std::nullopt)->type, std::move(tree)};
}

Task<std::optional<WatchedEvent>> Watcher::next_text() {
    takes_turns_ = true;
    return wait_next();
}

Task<std::optional<WatchedEvent>> Watcher::wait_next() {
    for (;;) {
        if (has_more() && turn_is_long()) co_await asio::post(asio::use_awaitable);
        if (std::optional<Pending> pending = take()) {
            if (!show_ || pending->event.text == nullptr) co_return std::move(pending->event);
            std::optional<WatchedEvent> event = co_await shown(*std::move(pending));
            if (event) co_return event;
            continue;
        }
        if (has_more())
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
        const std::optional<kube::WatchEventType> as = appears_as(type, was, is);
        if (!as) co_return std::optional<WatchedEvent>();
        if (*as == kDeleted && type != kDeleted)
            object = with_resource_version(*previous, pending.revision);
        type = *as;
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
    behind_.reset();
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
    for (int looked_at = 0; has_more(); ++looked_at) {
        if (looked_at > 0 && (looked_at == kObjectsPerTurn || turn_is_long())) break;
        std::optional<Pending> found;
        if (!initial_.empty()) {
            found = seen(CacheEvent{.type = kube::WatchEventType::kAdded,
                                    .key = {},
                                    .object = std::move(initial_.front()),
                                    .previous = nullptr});
            initial_.pop_front();
        } else if (!pending_.empty()) {
            found = std::move(pending_.front());
            pending_.pop_front();
            if (found->to_select && !selects_late_) found = seen(*std::move(found));
        } else if (const CacheEvent* missed = next_missed()) {
            found = seen(*missed);
        }
        if (found) return found;
    }
    return std::nullopt;
}

const CacheEvent* Watcher::next_missed() {
    const std::string& scope = selection_.namespace_scope();
    while (behind_ && cache_ != nullptr) {
        const Result<const CacheEvent*> next = cache_->next_change(def_->storage_key(), *behind_);
        if (!next) {
            expire(next.error().message());
            return nullptr;
        }
        if (*next == nullptr) break;
        const CacheEvent& event = **next;
        behind_ = event.revision;
        if ((scope.empty() || event.key.namespace_ == scope) &&
            (!selection_.name() || event.key.name == *selection_.name()))
            return &event;
    }
    behind_.reset();
    return nullptr;
}

void Watcher::take_rest() {
    while (const CacheEvent* event = next_missed())
        pending_.push_back(
            {{event->type, event->object, nullptr}, event->previous, event->revision, true});
}

std::optional<Watcher::Pending> Watcher::seen(Pending pending) const {
    return seen(CacheEvent{pending.event.type,
                           {},
                           pending.revision,
                           std::move(pending.event.text),
                           std::move(pending.previous)});
}

std::optional<Watcher::Pending> Watcher::seen(const CacheEvent& event) const {
    using enum kube::WatchEventType;
    if (selects_late_)
        return Pending{event_of(event.type, event.object), event.previous, event.revision, true};
    if (!selection_.has_selectors()) return Pending{event_of(event.type, event.object)};
    const bool was = event.previous != nullptr && selection_.matches(*event.previous);
    const bool is = event.type != kDeleted && selection_.matches(*event.object);
    const std::optional<kube::WatchEventType> as = appears_as(event.type, was, is);
    if (!as) return std::nullopt;
    if (*as != kDeleted || event.type == kDeleted) return Pending{event_of(*as, event.object)};
    if (event.left == nullptr) event.left = with_resource_version(*event.previous, event.revision);
    return Pending{event_of(kDeleted, event.left)};
}

WatchedEvent Watcher::event_of(kube::WatchEventType type, store::ObjectTextPtr object) const {
    object = in_version(*def_, std::move(object));
    kube::ObjectPtr tree = object->tree_in_use();
    return {type, std::move(object), std::move(tree)};
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

void Watcher::offer(const CacheEvent& event, bool turn_is_over) {
    if (ended_ || behind_ || event.revision <= settings_.after) return;
    // Many with selectors may watch, and the labels of an object may be many.
    if (selection_.has_selectors() && turn_is_over) {
        behind_ = event.revision - 1;
        return wake();
    }
    std::optional<Pending> found = seen(event);
    if (!found) return;
    if (pending_.size() >= settings_.buffer || fault_point()) {
        initial_.clear();
        pending_.clear();
        expire(fmt::format("the watch fell more than {} events behind and was ended",
                           settings_.buffer));
        return;
    }
    TaskFault::strike("watch");
    push(*std::move(found));
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
    behind_.reset();
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
    // It would say that nothing is missing up to the revision.
    if (!behind_ && pending_.size() < settings_.buffer)
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
