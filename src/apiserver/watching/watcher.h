#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "apiserver/requests/status_error.h"
#include "apiserver/watching/selection.h"
#include "base/async/side_thread.h"
#include "base/async/signal.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "kube/values/namespaced_name.h"
#include "store/store.h"

namespace muster::apiserver {

class WatchCache;

/// One change as the cache remembers it.
struct CacheEvent {
    kube::WatchEventType type;
    kube::NamespacedName key;
    store::Revision revision = 0;
    store::ObjectTextPtr object;    ///< the new state; for a deletion the final one
    store::ObjectTextPtr previous;  ///< null for an addition
    /// `previous` with this revision, for watchers whose selector it no longer matches. Made once,
    /// by the first that needs it.
    mutable store::ObjectTextPtr left = nullptr;
};

/// An event for a watcher.
struct WatchedEvent {
    kube::WatchEventType type;
    store::ObjectTextPtr text;  ///< null for what is not a stored object: a bookmark, an error
    kube::ObjectPtr tree;       ///< null until the object is read

    /// Keep the result for as long as you read it.
    kube::ObjectPtr object() const { return tree != nullptr ? tree : text->tree(); }
};

/// One open watch: a bounded queue between the cache and the reader. Belongs to the reader; the
/// cache refers to it until it ends. Thread: the server's loop.
///
/// What it missed, as when it resumes from a revision, it reads from the cache's history when the
/// reader asks, in turns of the loop: until it has caught up no change is queued.
class Watcher final : public kube::WatchStream {
  public:
    struct Settings {
        std::size_t buffer = 0;     ///< live events that may wait for the reader
        store::Revision after = 0;  ///< only later changes are wanted
        bool bookmarks = false;
        Duration bookmark_interval{};
        Instant timeout;
    };

    Watcher(const asio::any_io_executor& executor, DefPtr def, Selection selection,
            Settings settings);
    ~Watcher() override;

    Task<Result<std::optional<kube::WatchEvent>>> next() override;
    /// next() parses large objects there; null: on the loop. It outlives the watcher.
    void read_beside(SideThread* side_thread) { side_thread_ = side_thread; }
    /// The same without making a tree, for a remote reader: it takes turns with others of its kind
    /// (FanOut). Nullopt at the end.
    Task<std::optional<WatchedEvent>> next_text();
    /// The next event if it is there already, and nothing has to be waited for to show it; nullopt
    /// says nothing about the end, nor about whether there are more.
    std::optional<WatchedEvent> try_next();

    /// How objects come to the version of the watch, if that can't be done at once. When it fails,
    /// the watch ends with an ERROR event that says why. To be called before the first event is read.
    using Show = std::function<Task<StatusResult<store::ObjectTextPtr>>(store::ObjectTextPtr)>;
    void show_by(Show show) { show_ = std::move(show); }

    const ResourceDef& def() const { return *def_; }
    const Selection& selection() const { return selection_; }
    bool ended() const { return ended_; }

    /// An object that existed before the watch. The reader gets those that are selected, before all
    /// events; they do not count towards falling behind.
    void add_initial(store::ObjectTextPtr object);
    /// A live change, converted to what the selection sees of it: later, if it can't be seen at
    /// once, or others should have their turn.
    void offer(const CacheEvent& event, bool turn_is_over);
    /// Queues what the cache still knows of the changes that it has not caught up with.
    void take_rest();
    void add_bookmark(store::Revision revision, bool initial_events_end);
    /// Sends what is queued, then an ERROR event with a 410 Status, then the end.
    void expire(std::string message);
    void end();

    /// When to call on_deadline() next.
    Instant deadline() const { return std::min(next_bookmark_, settings_.timeout); }
    void on_deadline(Instant now, store::Revision revision);

  private:
    friend class WatchCache;
    friend class FanOut;

    /// What waits for the reader.
    struct Pending {
        WatchedEvent event;
        /// Of an object that has to be seen in the watch's version before it can be selected: the
        /// change that the event is about.
        store::ObjectTextPtr previous = nullptr;
        store::Revision revision = 0;
        bool to_select = false;
    };

    Task<std::optional<WatchedEvent>> wait_next();
    /// Whether there may be something to take without waiting.
    bool has_more() const { return !pending_.empty() || !initial_.empty() || behind_; }
    /// Nullopt: nothing yet, or the loop has other work meanwhile.
    std::optional<Pending> take();
    /// The next change of the cache's history that may concern it; null: it has caught up, or was
    /// ended since it can't.
    const CacheEvent* next_missed();
    /// What the selection sees of a change; nullopt: nothing.
    std::optional<Pending> seen(const CacheEvent& event) const;
    /// The same for a change that was queued as it is.
    std::optional<Pending> seen(Pending pending) const;
    /// Nullopt: it is not selected.
    Task<std::optional<WatchedEvent>> shown(Pending pending);
    Task<StatusResult<std::optional<WatchedEvent>>> selected(Pending pending);
    void wake();
    void take_turn();
    WatchedEvent event_of(kube::WatchEventType type, store::ObjectTextPtr object) const;
    void push(Pending pending);
    void schedule_bookmark(Instant now);

    DefPtr def_;
    Selection selection_;
    Settings settings_;
    Show show_;
    SideThread* side_thread_ = nullptr;
    std::optional<WatchedEvent> reading_;  ///< what next() has taken and not returned yet
    /// Selectors read objects that a webhook has to convert first.
    bool selects_late_;
    std::deque<store::ObjectTextPtr> initial_;
    std::deque<Pending> pending_;
    /// After `pending_`, the changes since this revision come from the cache's history.
    std::optional<store::Revision> behind_;
    Signal changed_;
    bool ended_ = false;
    bool takes_turns_ = false;
    bool waits_turn_ = false;  ///< the cache's FanOut refers to it
    Instant next_bookmark_ = Instant::max();

    WatchCache* cache_ = nullptr;  ///< null before and after it is registered
    std::uint64_t id_ = 0;
    Instant armed_{};  ///< the deadline for which the cache keeps it
};

}  // namespace muster::apiserver
