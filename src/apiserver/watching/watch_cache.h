#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/requests/request_options.h"
#include "apiserver/watching/fan_out.h"
#include "apiserver/watching/watch_options.h"
#include "apiserver/watching/watcher.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "store/store.h"

namespace muster::apiserver {

/// Namespace and name.
using ObjectKey = std::pair<std::string, std::string>;

struct CachedObject {
    store::ObjectTextPtr object;
    store::Revision revision = 0;

    /// Keep it for as long as you look into it.
    kube::ObjectPtr tree() const { return object->tree(); }
};

/// The current objects and the recent changes of every resource, in memory: all reads and watches
/// are served from here. A change costs the lookup of its object and the watchers that it may
/// concern: they are indexed by resource, namespace and name.
///
/// Objects rest as text. What the server itself reads with each request (namespaces, roles,
/// webhooks) stays parsed, and so do the last few changes, which are often read or
/// changed again at once.
///
/// Thread: the server's loop. Never suspends, so what one call sees is one revision.
class WatchCache {
  public:
    using Objects = std::map<ObjectKey, CachedObject>;

    WatchCache(const asio::any_io_executor& executor, Clock& clock, Rng& rng, TaskGroup& tasks,
               WatchOptions options);
    ~WatchCache();

    /// Before any change: what the store held when the server started.
    void load(const std::string& resource, std::vector<store::StoredObject> objects);
    /// `floor`: watches resume from it on, once remember() was told every change after it.
    void start_at(store::Revision revision, store::Revision floor) {
        revision_ = revision;
        start_ = floor;
    }
    /// A change from before the start. The objects that were loaded show it already.
    void remember(const store::StoreHistory::Entry& entry);

    /// Takes over a committed change and passes it to watchers. Returns the state before.
    store::ObjectTextPtr apply(const store::StoreChange& change);

    store::Revision revision() const { return revision_; }
    /// Null when there is none.
    const CachedObject* find(const std::string& resource, const std::string& namespace_,
                             const std::string& name) const;
    const Objects& objects(const std::string& resource) const;
    /// Whether the trees of its objects are always at hand.
    bool stays_parsed(const std::string& resource) const;
    /// The range of one namespace, or everything when it is empty.
    std::pair<Objects::const_iterator, Objects::const_iterator> range(
        const std::string& resource, const std::string& namespace_) const;

    /// The states at `revision` of the objects that changed since (null: did not exist), or
    /// nullopt when that is no longer known.
    std::optional<std::map<ObjectKey, store::ObjectTextPtr>> states_at(
        const std::string& resource, store::Revision revision) const;

    std::unique_ptr<Watcher> watch(DefPtr def, Selection selection, const WatchQuery& query);
    /// Ends every watch of a resource, as when its definition goes.
    void end_watches(const std::string& resource);
    void end_all_watches();

  private:
    friend class Watcher;

    using Watchers = std::vector<Watcher*>;
    struct Resource {
        Objects objects;
        std::deque<CacheEvent> history;
        store::Revision floor = 0;  ///< changes after it are all in `history`
        bool stays_parsed = false;
        std::map<ObjectKey, kube::ObjectPtr> parsed;  ///< all of `objects`, if they stay so
        Watchers of_all;
        std::map<std::string, Watchers> of_namespace;
        /// Namespace may be empty: any.
        std::map<ObjectKey, Watchers> of_name;
    };

    Resource& resource(const std::string& name);
    const CacheEvent& keep(Resource& resource, CacheEvent event);
    Watchers& bucket_of(Resource& resource, const Selection& selection);
    void remove(Watcher& watcher);
    void detach(Watcher& watcher);
    void dispatch(Watchers& watchers, const CacheEvent& event);
    void send_initial(Watcher& watcher, bool announce_end);
    void replay(const Resource& resource, Watcher& watcher, store::Revision after);
    void arm(Watcher& watcher);
    void wake_next();
    Task<void> wake_at(Instant when);

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    TaskGroup& tasks_;
    WatchOptions options_;

    store::Revision revision_ = 0;
    store::Revision start_ = 0;  ///< what was before it is not known of any resource
    std::map<std::string, Resource, std::less<>> resources_;
    /// Whose each of the remembered changes is, the oldest first. What is remembered of all
    /// resources together is bounded: each alone would take as much as all now do.
    std::deque<Resource*> order_;
    std::array<kube::ObjectPtr, 32> newest_;  ///< a ring, at `next_newest_` its oldest
    std::size_t next_newest_ = 0;

    FanOut fan_out_;
    std::uint64_t next_watcher_id_ = 0;
    std::map<std::pair<Instant, std::uint64_t>, Watcher*> deadlines_;
    Instant next_wake_ = Instant::max();  ///< the earliest wake_at() that is under way
};

}  // namespace muster::apiserver
