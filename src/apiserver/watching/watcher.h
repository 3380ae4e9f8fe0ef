#pragma once

#include <algorithm>
#include <deque>

#include "apiserver/watching/selection.h"
#include "base/async/signal.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "store/store.h"

namespace muster::apiserver {

class WatchCache;

/// One change as the cache remembers it.
struct CacheEvent {
    kube::WatchEventType type;
    store::Revision revision = 0;
    store::ObjectTextPtr object;    ///< the new state; of a deletion the final one
    store::ObjectTextPtr previous;  ///< null for an addition
    /// `previous` with this revision: what watchers see whose selector it no longer matches. Made
    /// once, by the first that needs it.
    mutable store::ObjectTextPtr left = nullptr;
};

/// What a watcher is told.
struct WatchedEvent {
    kube::WatchEventType type;
    store::ObjectTextPtr text;  ///< null for what is not a stored object: a bookmark, an error
    kube::ObjectPtr tree;       ///< null until the object is looked into

    /// Keep it for as long as you look into it.
    kube::ObjectPtr object() const { return tree != nullptr ? tree : text->tree(); }
};

/// One open watch: a bounded queue between the cache and the reader. Belongs to the reader; the
/// cache refers to it until it ends. Thread: the server's loop.
class Watcher final : public kube::WatchStream {
  public:
    struct Settings {
        std::size_t buffer = 0;     ///< live events that may wait for the reader
        store::Revision after = 0;  ///< only changes beyond it are wanted
        bool bookmarks = false;
        Duration bookmark_interval{};
        Instant timeout;
    };

    Watcher(const asio::any_io_executor& executor, DefPtr def, Selection selection,
            Settings settings);
    ~Watcher() override;

    Task<Result<std::optional<kube::WatchEvent>>> next() override;
    /// The same without a tree being made, for a reader far away: it takes turns with others of its
    /// kind (FanOut). Nullopt at the end.
    Task<std::optional<WatchedEvent>> next_text();
    /// The next event if it is there already; nullopt says nothing about the end.
    std::optional<WatchedEvent> try_next();

    const ResourceDef& def() const { return *def_; }
    const Selection& selection() const { return selection_; }
    bool ended() const { return ended_; }

    /// An event that existed before the watch: never counts as falling behind.
    void add_initial(store::ObjectTextPtr object);
    /// A live or replayed change; turned into what the selection sees of it.
    void offer(const CacheEvent& event);
    void add_bookmark(store::Revision revision, bool initial_events_end);
    /// Sends what is queued, then an ERROR event with a 410 Status, then the end.
    void expire(std::string message);
    void end();

    /// When on_deadline() is due next.
    Instant deadline() const { return std::min(next_bookmark_, settings_.timeout); }
    void on_deadline(Instant now, store::Revision revision);

  private:
    friend class WatchCache;
    friend class FanOut;

    Task<std::optional<WatchedEvent>> wait_next();
    void wake();
    void take_turn();
    void push(kube::WatchEventType type, store::ObjectTextPtr object);
    void push(WatchedEvent event);
    void schedule_bookmark(Instant now);

    DefPtr def_;
    Selection selection_;
    Settings settings_;
    std::deque<WatchedEvent> pending_;
    std::size_t limit_;
    Signal changed_;
    bool ended_ = false;
    bool takes_turns_ = false;
    bool waits_turn_ = false;  ///< the cache's FanOut refers to it
    Instant next_bookmark_ = Instant::max();

    WatchCache* cache_ = nullptr;  ///< null before and after it is registered
    std::uint64_t id_ = 0;
    Instant armed_{};  ///< the deadline under which the cache keeps it
};

}  // namespace muster::apiserver
