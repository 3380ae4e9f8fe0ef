#include "kube/client/work_queue.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"
#include "base/time/restarting_task.h"

namespace muster::kube {
namespace {

constexpr int kFirstInTurn = 8;

}  // namespace

WorkQueue::WorkQueue(Clock& clock, TaskGroup& tasks, Backoff backoff)
    : clock_(clock), tasks_(tasks), backoff_(backoff), work_(tasks.executor()) {}

void WorkQueue::add(const std::string& key) { add_to(ready_, key); }

void WorkQueue::add_first(const std::string& key) { add_to(first_, key); }

void WorkQueue::add_to(std::deque<std::string>& keys, const std::string& key) {
    State& state = states_[key];
    if (std::exchange(state.queued, true) || state.working) return;
    keys.push_back(key);
    work_.notify_all();
}

void WorkQueue::add_at(const std::string& key, Instant when) {
    if (when <= clock_.now()) return add(key);
    auto [it, fresh] = due_.emplace(key, when);
    if (!fresh) {
        if (it->second <= when) return;
        timers_.erase({it->second, key});
        it->second = when;
    }
    timers_.emplace(when, key);
    arm();
}

void WorkQueue::add_failed(const std::string& key) {
    const int failures = failures_[key]++;
    Duration delay = backoff_.first;
    for (int i = 0; i < failures && delay < backoff_.max; ++i) delay *= 2;
    add_after(key, std::min(delay, backoff_.max));
}

void WorkQueue::retry_failed() {
    for (const auto& [key, failures] : std::exchange(failures_, {})) add(key);
}

Task<std::string> WorkQueue::next() {
    co_await asio::post(tasks_.executor(), asio::use_awaitable);
    while (ready() == 0) co_await work_.wait();
    std::string key = take();
    states_.insert_or_assign(key, State{.queued = false, .working = true});
    co_return key;
}

std::string WorkQueue::take() {
    const bool from_first = !first_.empty() && (ready_.empty() || taken_first_ < kFirstInTurn);
    taken_first_ = from_first ? taken_first_ + 1 : 0;
    std::deque<std::string>& keys = from_first ? first_ : ready_;
    std::string key = std::move(keys.front());
    keys.pop_front();
    return key;
}

void WorkQueue::done(const std::string& key) {
    const auto it = states_.find(key);
    const bool worked = it != states_.end() && it->second.working;
    CHECK(worked, "done() for a key that no worker has");
    if (!it->second.queued) {
        states_.erase(it);
        return;
    }
    it->second.working = false;
    ready_.push_back(key);
    work_.notify_all();
}

/// A sleeper that turns out to be too late (a key's time moved forward) wakes in vain; another one
/// starts only if none wakes early enough.
void WorkQueue::arm() {
    if (timers_.empty()) return;
    const Instant first = timers_.begin()->first;
    if (!armed_.empty() && *armed_.begin() <= first) return;
    armed_.insert(first);
    spawn_restarting(tasks_, clock_, "work queue timer",
                     [this, first] { return run_timer(first); });
}

Task<void> WorkQueue::run_timer(Instant deadline) {
    co_await clock_.sleep_until(deadline);
    armed_.erase(deadline);
    add_due();
    arm();
}

void WorkQueue::add_due() {
    while (!timers_.empty() && timers_.begin()->first <= clock_.now()) {
        const std::string key = timers_.begin()->second;
        add(key);
        timers_.erase(timers_.begin());
        due_.erase(key);
    }
}

}  // namespace muster::kube
