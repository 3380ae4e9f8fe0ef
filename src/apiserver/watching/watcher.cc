#include "apiserver/watching/watcher.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/resources/version_conversion.h"
#include "apiserver/watching/watch_cache.h"
#include "base/fault.h"

namespace muster::apiserver {

namespace {
// A client should learn a late revision before its watch times out.
constexpr Duration kLastBookmark = std::chrono::seconds(2);
}  // namespace

Watcher::Watcher(const asio::any_io_executor& executor, DefPtr def, Selection selection,
                 Settings settings)
    : def_(std::move(def)),
      selection_(std::move(selection)),
      settings_(settings),
      limit_(settings.buffer),
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
    while (pending_.empty()) {
        if (ended_) co_return std::nullopt;
        co_await changed_.wait();
    }
    co_return try_next();
}

std::optional<WatchedEvent> Watcher::try_next() {
    if (pending_.empty()) return std::nullopt;
    std::optional<WatchedEvent> event = std::move(pending_.front());
    pending_.pop_front();
    return event;
}

void Watcher::push(kube::WatchEventType type, store::ObjectTextPtr object) {
    object = in_version(*def_, std::move(object));
    kube::ObjectPtr tree = object->tree_in_use();
    push({type, std::move(object), std::move(tree)});
}

void Watcher::push(WatchedEvent event) {
    pending_.push_back(std::move(event));
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

void Watcher::add_initial(store::ObjectTextPtr object) {
    ++limit_;
    push(kube::WatchEventType::kAdded, std::move(object));
}

void Watcher::offer(const CacheEvent& event) {
    using enum kube::WatchEventType;
    if (ended_ || event.revision <= settings_.after) return;
    kube::WatchEventType type = event.type;
    store::ObjectTextPtr object = event.object;
    if (selection_.has_selectors()) {
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
    if (pending_.size() >= limit_ || fault_point()) {
        pending_.clear();
        expire(fmt::format("the watch fell more than {} events behind and was ended", limit_));
        return;
    }
    push(type, std::move(object));
}

void Watcher::add_bookmark(store::Revision revision, bool initial_events_end) {
    json::object meta{{"resourceVersion", std::to_string(revision)}};
    if (initial_events_end) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    json::object bookmark{{"kind", def_->type.kind},
                          {"apiVersion", def_->type.api_version()},
                          {"metadata", std::move(meta)}};
    push({kube::WatchEventType::kBookmark, nullptr,
          std::make_shared<const json::value>(std::move(bookmark))});
}

void Watcher::expire(std::string message) {
    if (ended_) return;
    const Error error(Code::kGone, std::move(message));
    pending_.push_back({kube::WatchEventType::kError, nullptr,
                        std::make_shared<const json::value>(kube::status_from_error(error))});
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
    if (pending_.size() < limit_) add_bookmark(std::max(revision, settings_.after), false);
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
