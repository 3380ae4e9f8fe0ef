#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "cli/internal/logs/log_merge.h"
#include "cli/internal/logs/log_options.h"
#include "cli/internal/logs/log_sources.h"
#include "cli/internal/run/console.h"
#include "kube/client/client.h"
#include "runtime/retained_logs.h"

namespace muster::cli {

/// What is asked for of a container's log. Pure.
kube::LogOptions request_of(const LogsOptions& options, const std::string& container);

/// Shows the logs of several containers merged by their time stamps. A task of its own in the group
/// reads each log; whoever stops the group keeps the session until then. Thread: the loop of the
/// group. run() it once.
class LogSession {
  public:
    /// All of these outlive it. `prefixes`: each line begins with the name of its pod.
    LogSession(TaskGroup& tasks, Clock& clock, const LogsOptions& options, Console& console,
               bool prefixes);

    /// Reads a log to its end: that of an existing pod's newest instance, or of the one before.
    void read(kube::Client& client, const LogSource& source, bool previous = false);
    /// The same for an instance in a pod with retained logs.
    void read(const LogSource& source, runtime::RetainedPod pod, int instance);
    /// Opens a log from wherever it is kept.
    using Open = std::function<Task<Result<std::unique_ptr<kube::TextStream>>>()>;
    void read(std::string name, Open open);
    /// Shows everything that is read now and later, until no log is open any more and no_more() was
    /// called.
    Task<Result<int>> run();
    /// Nothing more will be read.
    void no_more();

    /// How many logs could be read so far, and why others could not.
    std::size_t opened() const { return opened_; }
    bool anything_came() const { return shown_; }
    const std::vector<Error>& failures() const { return failures_; }

  private:
    Task<void> follow(std::size_t number, Open open);
    Task<bool> changed();
    void show(const std::vector<LogMerge::Line>& lines);

    TaskGroup& tasks_;
    Clock& clock_;
    const LogsOptions& options_;
    Console& console_;
    bool prefixes_;
    LogMerge merge_;
    std::vector<std::string> names_;  ///< by the logs' numbers
    std::vector<Error> failures_;
    std::size_t opened_ = 0;
    bool no_more_ = false;
    bool shown_ = false;
    Signal came_;   ///< lines, or the end of a log
    Signal taken_;  ///< lines were shown, so there is room
};

}  // namespace muster::cli
