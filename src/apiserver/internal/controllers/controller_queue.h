#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <functional>
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

/// The keys that a controller still has to reconcile: each once, in order, one at a time. A task
/// runs only while there are keys, so an idle server has none. Lets other work of the loop run in
/// between.
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

    std::string name_;
    TaskGroup& tasks_;
    Clock& clock_;
    Reconcile reconcile_;
    std::deque<Key> queue_;
    std::set<Key> queued_;
    bool running_ = false;
};

}  // namespace muster::apiserver
