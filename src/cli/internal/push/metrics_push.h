#pragma once

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "cli/internal/push/metric_group.h"
#include "cli/internal/push/url_client.h"
#include "cli/internal/run/console.h"
#include "cli/internal/run/run_session.h"

namespace muster::cli {

/// Tells a Pushgateway how the job of a step is doing: at each change of its state, and at the end.
/// A gateway that can't be reached is told once and holds nothing up: changes are pushed beside the
/// run, the latest one only, and the end waits for a few seconds at most. Thread: one loop.
class MetricsPush {
  public:
    MetricsPush(asio::any_io_executor executor, Clock& clock, Console& console,
                const kube::ServerUrl& gateway, const MetricLabels& group, MetricLabels about);

    /// Follows a run, which outlives the tasks, from its beginning.
    void start(TaskGroup& tasks, RunSession& session);
    /// Takes in the present state of the run.
    void observe(const RunSession& session);
    /// The last push, after the run; then nothing may be waiting.
    Task<void> finish(int exit_code);

  private:
    Task<void> follow(RunSession& session);
    Task<void> push_changes();
    Task<void> push(JobMetrics metrics, Duration time);

    Clock& clock_;
    Console& console_;
    UrlClient client_;
    const std::string url_;
    const std::string path_;
    const MetricLabels about_;
    JobProgress progress_;
    Signal changed_;
    bool told_ = false;  ///< that it can't be reached
};

}  // namespace muster::cli
