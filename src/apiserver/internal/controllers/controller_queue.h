#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "apiserver/requests/status_error.h"
#include "base/async/cancellation.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/time/clock.h"
#include "base/time/loop_watch.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"

namespace muster::apiserver {

/// The keys that a controller still has to reconcile: each once, in order, one at a time, some of
/// them not before a time (as with AddAfter of client-go's delaying queue, but the last time that
/// was said counts). A task runs only while there are keys, so an idle server has none. Lets other
/// work of the loop run in between.
template <class Key>
class ControllerQueue {
  public:
    /// Reconciles a key. An error is logged, and the key is tried again later.
    using Reconcile = std::function<Task<StatusResult<void>>(Key)>;

    ControllerQueue(std::string name, TaskGroup& tasks, Clock& clock, Reconcile reconcile)
        : name_(std::move(name)), tasks_(tasks), clock_(clock), reconcile_(std::move(reconcile)) {}

    void add(Key key) {
        if (!queued_.insert(key).second) return;
        queue_.push_back(std::move(key));
        if (std::exchange(running_, true)) return;
        spawn_restarting(tasks_, clock_, name_, [this] { return run(); });
    }

    /// Adds the key when the time has come. `when` replaces what was said for it before.
    void add_at(Key key, WallTime when) {
        forget(key);
        in_order_.emplace(when, key);
        due_.emplace(std::move(key), when);
        arm();
    }
    /// What add_at() said of the key does not count any more.
    void forget(const Key& key) {
        const auto known = due_.find(key);
        if (known == due_.end()) return;
        in_order_.erase({known->second, key});
        due_.erase(known);
    }
    /// Whether it will be added later.
    bool waits(const Key& key) const { return due_.contains(key); }

  private:
    static constexpr int kKeysPerTurn = 64;
    static constexpr Duration kRetryDelay = std::chrono::seconds(1);

    /// If the reconciliation of a key throws, only this key has failed.
    Task<StatusResult<void>> reconcile(Key key) {
        works_for(name_);
        try {
            co_return co_await reconcile_(std::move(key));
        } catch (...) {
            if (is_cancellation(std::current_exception())) throw;
            co_return Error(Code::kInternal, report_unexpected(name_, std::current_exception()));
        }
    }

    Task<void> run() {
        // The caller that adds a key is in the middle of its own work.
        co_await asio::post(tasks_.executor(), asio::use_awaitable);
        int handled = 0;
        while (!queue_.empty()) {
            Key key = std::move(queue_.front());
            queue_.pop_front();
            queued_.erase(key);
            StatusResult<void> done = co_await reconcile(key);
            if (!done) {
                log::warning("A controller of the API server will try again",
                             {{"controller", name_}, {"error", done.error().error.message()}});
                co_await clock_.sleep_for(kRetryDelay);
                if (queued_.insert(key).second) queue_.push_back(std::move(key));
            }
            if (++handled % kKeysPerTurn == 0 || turn_is_long())
                co_await asio::post(tasks_.executor(), asio::use_awaitable);
        }
        running_ = false;
    }

    void arm() {
        if (in_order_.empty()) return;
        const WallTime first = in_order_.begin()->first;
        if (!wakes_.empty() && *wakes_.begin() <= first) return;
        wakes_.insert(first);
        spawn_restarting(tasks_, clock_, name_ + ", later",
                         [this, first] { return wake_at(first); });
    }

    Task<void> wake_at(WallTime when) {
        co_await clock_.sleep_until_wall(when);
        wakes_.erase(when);
        while (!in_order_.empty() && in_order_.begin()->first <= when) {
            Key key = in_order_.begin()->second;
            forget(key);
            add(std::move(key));
        }
        arm();
    }

    std::string name_;
    TaskGroup& tasks_;
    Clock& clock_;
    Reconcile reconcile_;
    std::deque<Key> queue_;
    std::set<Key> queued_;
    bool running_ = false;
    std::map<Key, WallTime> due_;
    std::set<std::pair<WallTime, Key>> in_order_;  ///< the same by their times
    std::set<WallTime> wakes_;                     ///< of each pending wake_at()
};

}  // namespace muster::apiserver
