#include "kube/client/controller.h"

#include <utility>

#include "base/async/cancellation.h"
#include "base/time/loop_watch.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"

namespace muster::kube {

Controller::Controller(Clock& clock, TaskGroup& tasks, Reconcile reconcile, Done done)
    : clock_(clock),
      tasks_(tasks),
      reconcile_(std::move(reconcile)),
      done_(std::move(done)),
      queue_(clock, tasks),
      timers_(clock, tasks, [this](const std::string& key) { queue_.add(key); }) {}

void Controller::start(int workers) {
    for (int i = 0; i < workers; ++i)
        spawn_restarting(tasks_, clock_, "worker of a controller", [this] { return work(); });
}

Task<void> Controller::work() {
    for (;;) {
        const std::string key = co_await queue_.next();
        works_for("reconciling", key);
        const std::string what = "reconciling " + key;
        const Instant began = clock_.now();
        bool complete = false;
        try {
            complete = co_await reconcile_(key);
        } catch (...) {
            if (is_cancellation(std::current_exception())) throw;
            report_unexpected(what, std::current_exception());
        }
        // Whatever is told of it, the key must not stay with this worker.
        if (done_) contained(what, [&] { done_(key, clock_.now() - began, complete); });
        if (complete)
            queue_.forget(key);
        else
            queue_.add_failed(key);
        queue_.done(key);
    }
}

}  // namespace muster::kube
