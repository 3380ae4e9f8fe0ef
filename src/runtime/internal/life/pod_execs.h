#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/signal.h"
#include "runtime/internal/inside/sandbox.h"
#include "runtime/internal/life/check_result.h"

namespace muster::runtime {

/// The commands that run inside one pod's containers for probes and hooks. Thread: the loop.
class PodExecs {
  public:
    explicit PodExecs(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// Runs it in the container that was started as `container`, and succeeds when it exits with 0.
    /// Cancelled, it is killed. `sandbox` lives until sandbox_gone() is called.
    Task<CheckResult> run(PodSandbox& sandbox, std::uint32_t container,
                          std::vector<std::string> argv);

    /// A report of kind kExecEnded.
    void ended(const Report& report);
    /// Nothing of the pod runs any more.
    void sandbox_gone();

  private:
    struct Running;

    asio::any_io_executor executor_;
    std::map<std::uint32_t, Running*> running_;  ///< owned by the coroutines that wait
    std::uint32_t last_id_ = 0;
};

/// Of a wait status and what the command wrote.
CheckResult result_of_command(int wait_status, std::string output);

}  // namespace muster::runtime
