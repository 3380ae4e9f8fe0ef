#pragma once

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "cli/internal/run/console.h"
#include "cli/internal/run/run_session.h"
#include "cli/internal/step/step_request.h"
#include "kube/client/client.h"
#include "manifest/check.h"

namespace muster::cli {

/// Looks after the run of a step: tells what its job waits for, and ends a run that is stuck, or
/// whose server is away. Thread: the loop of the task group. All arguments outlive it.
class StepWatch {
  public:
    StepWatch(Clock& clock, kube::Client& client, Console& console, RunSession& session,
              const StepRequest& request, const manifest::CheckedObject& job);

    void start(TaskGroup& tasks);

  private:
    Task<void> look();
    Task<void> wake(Instant when);
    Task<void> ask();
    Task<void> stay_small();
    const JobView* job() const;

    Clock& clock_;
    kube::Client& client_;
    Console& console_;
    RunSession& session_;
    const StepRequest& request_;
    const kube::ResourceType type_;
    const std::string namespace_;
    const std::string name_;
    TaskGroup* tasks_ = nullptr;
    std::optional<Instant> wakes_at_;
};

}  // namespace muster::cli
