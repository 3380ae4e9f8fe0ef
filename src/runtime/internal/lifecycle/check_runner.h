#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "runtime/internal/lifecycle/check_result.h"
#include "runtime/internal/lifecycle/handler.h"
#include "runtime/internal/lifecycle/network_check.h"

namespace muster::runtime {

/// Carries out the checks of probes and hooks. Thread: the loop.
class CheckRunner {
  public:
    /// Runs a command in the container that is checked.
    using Exec = std::function<Task<CheckResult>(std::vector<std::string>)>;

    CheckRunner(asio::any_io_executor executor, Clock& clock, OpenSocket open)
        : executor_(std::move(executor)), clock_(clock), open_(std::move(open)) {}

    /// `pod_ip` is the host of a check that names none. A check that takes longer than `limit` has
    /// failed. This object and `exec` must outlive the task.
    Task<CheckResult> run(Handler handler, std::string pod_ip, std::optional<Duration> limit,
                          Exec exec);

  private:
    Task<CheckResult> run_handler(Handler handler, std::string pod_ip, Exec exec);

    asio::any_io_executor executor_;
    Clock& clock_;
    OpenSocket open_;
};

}  // namespace muster::runtime
