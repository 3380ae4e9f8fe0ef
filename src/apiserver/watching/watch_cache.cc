#include "apiserver/watching/watch_cache.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/resources/access_types.h"
#include "base/time/bounded_seconds.h"
#include "base/time/loop_watch.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"

namespace muster::apiserver {

namespace {
// A real server also ends watches without a timeout.
constexpr std::int64_t kMinTimeoutSeconds = 1800;
/// How many select a change before it is asked whether others should have their turn.
constexpr std::size_t kWatchersAtOnce = 8;

CacheEvent event_of(NamespacedName key, store::Revision revision, bool deleted,
                    store::ObjectTextPtr object, store::ObjectTextPtr before) {
    using enum kube::WatchEventType;
    const kube::WatchEventType type = deleted ? kDeleted : before == nullptr ? kAdded : kModified;
    return {type, std::move(key), revision, std::move(object), std::move(before)};
}

std::size_t bytes_of(const CacheEvent& event) {
    return store::passed_bytes(event.previous.get(), *event.object,
                               event.type == kube::WatchEventType::kDeleted);
}

/// What the server itself reads with requests for other objects. Definitions are not included:
/// their content is in the registry, and as trees ours alone take 1.8 MB.
bool is_consulted(std::string_view resource) {
    return resource == kube::types::kNamespaces.plural || resource == "limitranges" ||
           resource == "priorityclasses.scheduling.k8s.io" || resource.ends_with(kRbacGroup) ||
           resource.ends_with("admissionregistration.k8s.io");
}
}  // namespace

WatchCache::WatchCache(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
                       TaskGroup& tasks, WatchOptions options)
    : executor_(executor),
      clock_(clock),
      rng_(rng),
      tasks_(tasks),
      options_(options),
      fan_out_(clock, tasks) {}

WatchCache::~WatchCache() { end_all_watches(); }

WatchCache::Resource& WatchCache::resource(const std::string& name) {
    auto [it, fresh] = resources_.try_emplace(name);
    if (fresh) {
        it->second.floor = start_;
        it->second.stays_parsed = is_consulted(name);
        it->second.binds =
            name == kRoleBindings.qualified() || name == kClusterRoleBindings.qualified();
    }
    return it->second;
}

void WatchCache::put_parsed(Resource& of, const NamespacedName& key, kube::ObjectPtr tree) {
    if (of.binds) of.bindings.insert_or_assign(key, BindingSubjects(tree));
    of.parsed.insert_or_assign(key, std::move(tree));
}

void WatchCache::load(const std::string& name, std::vector<store::StoredObject> objects) {
    Resource& into = resource(name);
    for (store::StoredObject& stored : objects) {
        NamespacedName key{std::move(stored.key.namespace_), std::move(stored.key.name)};
        if (into.stays_parsed) put_parsed(into, key, stored.object->tree());
        into.objects.insert_or_assign(into.objects.end(), std::move(key),
                                      CachedObject{std::move(stored.object), stored.revision});
    }
}

const CacheEvent& WatchCache::keep(Resource& of, CacheEvent event) {
    history_bytes_ += bytes_of(event);
    of.history.push_back(std::move(event));
    order_.push_back(&of);
    // The newest is for those who watch now.
    while (order_.size() > 1 &&
           (order_.size() > options_.history.changes || history_bytes_ > options_.history.bytes)) {
        Resource& oldest = *order_.front();
        order_.pop_front();
        history_bytes_ -= bytes_of(oldest.history.front());
        oldest.floor = oldest.history.front().revision;
        oldest.history.pop_front();
    }
    return of.history.back();
}

void WatchCache::remember(const store::StoreHistory::Entry& entry) {
    keep(resource(entry.resource),
         event_of({namespace_of(*entry.object), name_of(*entry.object)}, entry.revision,
                  entry.deleted, entry.object, entry.before));
}

store::ObjectTextPtr WatchCache::apply(const store::StoreChange& change) {
    Resource& of = resource(change.key.resource);
    revision_ = change.revision;
    const NamespacedName key{change.key.namespace_, change.key.name};
    store::ObjectTextPtr before;
    if (change.object == nullptr) {
        auto node = of.objects.extract(key);
        if (!node.empty()) before = std::move(node.mapped().object);
        of.parsed.erase(key);
        of.bindings.erase(key);
    } else {
        CachedObject& cached = of.objects[key];
        before = std::exchange(cached.object, change.text);
        cached.revision = change.revision;
        if (of.stays_parsed) put_parsed(of, key, change.object);
    }
    newest_[next_newest_] = change.object == nullptr ? change.previous : change.object;
    next_newest_ = (next_newest_ + 1) % newest_.size();
    const CacheEvent& kept =
        keep(of, event_of(key, change.revision, change.object == nullptr, change.text, before));
    // A watcher may end during the call; dispatch() tidies its bucket.
    dispatch(of.of_all, kept);
    if (!of.of_namespace.empty())
        if (auto it = of.of_namespace.find(key.namespace_); it != of.of_namespace.end())
            dispatch(it->second, kept);
    if (!of.of_name.empty()) {
        if (auto it = of.of_name.find(key); it != of.of_name.end()) dispatch(it->second, kept);
        if (!key.namespace_.empty())
            if (auto it = of.of_name.find({"", key.name}); it != of.of_name.end())
                dispatch(it->second, kept);
    }
    return before;
}

void WatchCache::dispatch(Watchers& watchers, const CacheEvent& event) {
    bool any_ended = false;
    bool turn_is_over = false;
    std::size_t asked = 0;
    for (Watcher* watcher : watchers) {
        if (asked++ % kWatchersAtOnce == 0) turn_is_over = turn_is_long();
        // It would never learn of the event: its client has to list again.
        if (const auto fault = contained("a watch", [&] { watcher->offer(event, turn_is_over); }))
            watcher->expire(*fault);
        any_ended |= watcher->ended();
    }
    if (!any_ended) return;
    for (Watcher* watcher : watchers)
        if (watcher->ended()) detach(*watcher);
    std::erase_if(watchers, [](const Watcher* watcher) { return watcher->ended(); });
}

const CachedObject* WatchCache::find(const std::string& name, const std::string& namespace_,
                                     const std::string& object) const {
    const Objects& all = objects(name);
    auto it = all.find(NamespacedName{namespace_, object});
    return it == all.end() ? nullptr : &it->second;
}

const WatchCache::Objects& WatchCache::objects(const std::string& name) const {
    static const Objects kNone;
    auto it = resources_.find(name);
    return it == resources_.end() ? kNone : it->second.objects;
}

const std::map<NamespacedName, BindingSubjects>& WatchCache::bindings(
    const std::string& name) const {
    static const std::map<NamespacedName, BindingSubjects> kNone;
    auto it = resources_.find(name);
    return it == resources_.end() ? kNone : it->second.bindings;
}

bool WatchCache::stays_parsed(const std::string& name) const {
    auto it = resources_.find(name);
    return it != resources_.end() && it->second.stays_parsed;
}

std::pair<WatchCache::Objects::const_iterator, WatchCache::Objects::const_iterator>
WatchCache::range(const std::string& name, const std::string& namespace_) const {
    const Objects& all = objects(name);
    if (namespace_.empty()) return {all.begin(), all.end()};
    // "\0" sorts directly after the namespace itself.
    return {all.lower_bound(NamespacedName{namespace_, ""}),
            all.lower_bound(NamespacedName{namespace_ + '\0', ""})};
}

std::optional<std::map<NamespacedName, store::ObjectTextPtr>> WatchCache::states_at(
    const std::string& name, store::Revision revision) const {
    std::map<NamespacedName, store::ObjectTextPtr> states;
    if (revision > revision_) return std::nullopt;
    auto it = resources_.find(name);
    if (it == resources_.end()) {
        if (revision < start_) return std::nullopt;
        return states;
    }
    const Resource& of = it->second;
    if (revision < of.floor) return std::nullopt;
    auto event = std::ranges::upper_bound(of.history, revision, {}, &CacheEvent::revision);
    // Only the first change after the revision knows the state before it.
    for (; event != of.history.end(); ++event) states.try_emplace(event->key, event->previous);
    return states;
}

Result<const CacheEvent*> WatchCache::next_change(const std::string& name,
                                                  store::Revision after) const {
    const auto it = resources_.find(name);
    if (it == resources_.end()) return nullptr;
    const Resource& of = it->second;
    if (after < of.floor)
        return Error(Code::kGone,
                     fmt::format("too old resource version: {} ({})", after, of.floor));
    const auto next = std::ranges::upper_bound(of.history, after, {}, &CacheEvent::revision);
    return next == of.history.end() ? nullptr : &*next;
}

WatchCache::Watchers& WatchCache::bucket_of(Resource& of, const Selection& selection) {
    if (selection.name()) return of.of_name[{selection.namespace_scope(), *selection.name()}];
    if (!selection.namespace_scope().empty()) return of.of_namespace[selection.namespace_scope()];
    return of.of_all;
}

std::unique_ptr<Watcher> WatchCache::watch(DefPtr def, Selection selection,
                                           const WatchQuery& query) {
    Resource& of = resource(def->storage_key());
    const std::int64_t seconds =
        query.timeout_seconds.value_or(0) > 0
            ? *query.timeout_seconds
            : kMinTimeoutSeconds + static_cast<std::int64_t>(rng_.below(kMinTimeoutSeconds));
    const store::Revision after = query.resource_version.value_or(0);
    const bool initial = query.send_initial_events.value_or(after == 0);
    Watcher::Settings settings{.buffer = options_.watcher_buffer,
                               .after = initial || after == 0 ? revision_ : after,
                               .bookmarks = query.bookmarks,
                               .bookmark_interval = options_.bookmark_interval,
                               .timeout = clock_.now() + bounded_seconds(seconds)};
    auto watcher =
        std::make_unique<Watcher>(executor_, std::move(def), std::move(selection), settings);
    const Result<const CacheEvent*> missed =
        next_change(watcher->def().storage_key(), settings.after);
    if (!missed) {
        watcher->expire(missed.error().message());
        return watcher;
    }
    if (*missed != nullptr) watcher->behind_ = settings.after;
    if (initial)
        send_initial(*watcher, query.bookmarks && query.send_initial_events.value_or(false));

    bucket_of(of, watcher->selection()).push_back(watcher.get());
    watcher->cache_ = this;
    watcher->id_ = ++next_watcher_id_;
    watcher->schedule_bookmark(clock_.now());
    arm(*watcher);
    return watcher;
}

void WatchCache::send_initial(Watcher& watcher, bool announce_end) {
    const auto [first, last] =
        range(watcher.def().storage_key(), watcher.selection().namespace_scope());
    for (auto it = first; it != last; ++it) watcher.add_initial(it->second.object);
    if (announce_end) watcher.add_bookmark(revision_, true);
}

void WatchCache::arm(Watcher& watcher) {
    watcher.armed_ = watcher.deadline();
    deadlines_.emplace(std::pair{watcher.armed_, watcher.id_}, &watcher);
    wake_next();
}

void WatchCache::wake_next() {
    if (deadlines_.empty() || deadlines_.begin()->first.first >= next_wake_) return;
    next_wake_ = deadlines_.begin()->first.first;
    spawn_restarting(tasks_, clock_, "watch deadlines",
                     [this, when = next_wake_] { return wake_at(when); });
}

Task<void> WatchCache::wake_at(Instant when) {
    co_await clock_.sleep_until(when);
    if (next_wake_ == when) next_wake_ = Instant::max();
    const Instant now = clock_.now();
    while (!deadlines_.empty() && deadlines_.begin()->first.first <= now) {
        Watcher& watcher = *deadlines_.begin()->second;
        deadlines_.erase(deadlines_.begin());
        // It has no other deadline now, and a client can open another watch where this one ends.
        if (contained("watch deadlines", [&] { watcher.on_deadline(now, revision_); }))
            watcher.end();
        if (watcher.ended())
            remove(watcher);
        else
            arm(watcher);
    }
    wake_next();
}

void WatchCache::detach(Watcher& watcher) {
    deadlines_.erase({watcher.armed_, watcher.id_});
    if (std::exchange(watcher.waits_turn_, false)) fan_out_.remove(watcher);
    watcher.cache_ = nullptr;
}

void WatchCache::remove(Watcher& watcher) {
    detach(watcher);
    Resource& of = resource(watcher.def().storage_key());
    const Selection& selection = watcher.selection();
    Watchers& bucket = bucket_of(of, selection);
    std::erase(bucket, &watcher);
    if (!bucket.empty()) return;
    if (selection.name())
        of.of_name.erase({selection.namespace_scope(), *selection.name()});
    else if (!selection.namespace_scope().empty())
        of.of_namespace.erase(selection.namespace_scope());
}

void WatchCache::end_watches(const std::string& name) {
    auto it = resources_.find(name);
    if (it == resources_.end()) return;
    const auto end_bucket = [this](Watchers& watchers) {
        for (Watcher* watcher : watchers) {
            watcher->take_rest();
            watcher->end();
            detach(*watcher);
        }
    };
    Resource& of = it->second;
    end_bucket(of.of_all);
    for (auto& [scope, watchers] : of.of_namespace) end_bucket(watchers);
    for (auto& [key, watchers] : of.of_name) end_bucket(watchers);
    of.of_all.clear();
    of.of_namespace.clear();
    of.of_name.clear();
}

void WatchCache::end_all_watches() {
    for (auto& [name, of] : resources_) end_watches(name);
}

}  // namespace muster::apiserver
