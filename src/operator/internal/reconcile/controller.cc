#include "operator/internal/reconcile/controller.h"

#include <utility>

namespace muster::operators {

Controller::Controller(Clock& clock, TaskGroup& tasks, Reconcile reconcile, Done done)
    : clock_(clock),
      tasks_(tasks),
      reconcile_(std::move(reconcile)),
      done_(std::move(done)),
      queue_(clock, tasks),
      timers_(clock, tasks, [this](const std::string& key) { queue_.add(key); }) {}

void Controller::start(int workers) {
    for (int i = 0; i < workers; ++i) tasks_.spawn("operator worker", work());
}

Task<void> Controller::work() {
    for (;;) {
        const std::string key = co_await queue_.next();
        const Instant began = clock_.now();
        const bool complete = co_await reconcile_(key);
        if (done_) done_(key, clock_.now() - began, complete);
        if (complete)
            queue_.forget(key);
        else
            queue_.add_failed(key);
        queue_.done(key);
    }
}

}  // namespace muster::operators
