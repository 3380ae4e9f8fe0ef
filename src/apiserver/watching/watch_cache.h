#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/requests/request_options.h"
#include "apiserver/resources/binding_subjects.h"
#include "apiserver/watching/fan_out.h"
#include "apiserver/watching/watch_options.h"
#include "apiserver/watching/watcher.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/values/namespaced_name.h"
#include "store/store.h"

namespace muster::apiserver {

using kube::NamespacedName;

struct CachedObject {
    store::ObjectTextPtr object;
    store::Revision revision = 0;

    /// Keep the result for as long as you read the object.
    kube::ObjectPtr tree() const { return object->tree(); }
};

/// The current objects and the recent changes of every resource, in memory: all reads and watches
/// are served from here. A change costs the lookup of its object and of the watchers that it may
/// concern: they are indexed by resource, namespace and name.
///
/// Objects are kept as text. What the server itself reads with each request (namespaces, roles,
/// webhooks) stays parsed, and so do the last few changes, which are often read or changed again
/// soon.
///
/// Thread: the server's loop. Never suspends, so what one call sees is one revision.
class WatchCache {
  public:
    using Objects = std::map<NamespacedName, CachedObject>;

    WatchCache(const asio::any_io_executor& executor, Clock& clock, Rng& rng, TaskGroup& tasks,
               WatchOptions options);
    ~WatchCache();

    /// Called before any change: the content of the store when the server started.
    void load(const std::string& resource, std::vector<store::StoredObject> objects);
    /// `floor`: watches can resume from it once remember() was called for every later change.
    void start_at(store::Revision revision, store::Revision floor) {
        revision_ = revision;
        start_ = floor;
    }
    /// A change from before the start, which the loaded objects show already.
    void remember(const store::StoreHistory::Entry& entry);

    /// Applies a committed change and passes it to watchers. Returns the state before.
    store::ObjectTextPtr apply(const store::StoreChange& change);

    store::Revision revision() const { return revision_; }
    /// Null if there is none.
    const CachedObject* find(const std::string& resource, const std::string& namespace_,
                             const std::string& name) const;
    const Objects& objects(const std::string& resource) const;
    /// All objects of one of the kinds of role bindings.
    const std::map<NamespacedName, BindingSubjects>& bindings(const std::string& resource) const;
    /// Whether the trees of its objects are always available.
    bool stays_parsed(const std::string& resource) const;
    /// The range of one namespace, or everything when it is empty.
    std::pair<Objects::const_iterator, Objects::const_iterator> range(
        const std::string& resource, const std::string& namespace_) const;

    /// The states at `revision` of the objects that have changed since (null: did not exist), or
    /// nullopt if that is no longer known.
    std::optional<std::map<NamespacedName, store::ObjectTextPtr>> states_at(
        const std::string& resource, store::Revision revision) const;

    /// The first change of the resource after the revision; null if there is none yet. kGone: it is
    /// no longer known. Valid until the next change.
    Result<const CacheEvent*> next_change(const std::string& resource, store::Revision after) const;

    std::unique_ptr<Watcher> watch(DefPtr def, Selection selection, const WatchQuery& query);
    /// Ends every watch of a resource, as when its definition is removed.
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
        std::map<NamespacedName, kube::ObjectPtr> parsed;  ///< all of `objects`, if they stay so
        bool binds = false;
        std::map<NamespacedName, BindingSubjects> bindings;  ///< all of `objects`, if they bind
        Watchers of_all;
        std::map<std::string, Watchers> of_namespace;
        /// The namespace may be empty: any.
        std::map<NamespacedName, Watchers> of_name;
    };

    Resource& resource(const std::string& name);
    static void put_parsed(Resource& resource, const NamespacedName& key, kube::ObjectPtr tree);
    const CacheEvent& keep(Resource& resource, CacheEvent event);
    Watchers& bucket_of(Resource& resource, const Selection& selection);
    void remove(Watcher& watcher);
    void detach(Watcher& watcher);
    void dispatch(Watchers& watchers, const CacheEvent& event);
    void send_initial(Watcher& watcher, bool announce_end);
    void arm(Watcher& watcher);
    void wake_next();
    Task<void> wake_at(Instant when);

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    TaskGroup& tasks_;
    WatchOptions options_;

    store::Revision revision_ = 0;
    store::Revision start_ = 0;  ///< earlier changes are not known for any resource
    std::map<std::string, Resource, std::less<>> resources_;
    /// The resource of each remembered change, oldest first. The number of remembered changes is
    /// limited for all resources together: a limit for each would take as much memory as all now
    /// do.
    std::deque<Resource*> order_;
    std::size_t history_bytes_ = 0;           ///< of the states in it that have passed
    std::array<kube::ObjectPtr, 32> newest_;  ///< a ring, at `next_newest_` its oldest
    std::size_t next_newest_ = 0;

    FanOut fan_out_;
    std::uint64_t next_watcher_id_ = 0;
    std::map<std::pair<Instant, std::uint64_t>, Watcher*> deadlines_;
    Instant next_wake_ = Instant::max();  ///< the earliest pending wake_at()
};

}  // namespace muster::apiserver
