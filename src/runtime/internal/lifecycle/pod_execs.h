#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "kube/objects/command_session.h"
#include "runtime/internal/lifecycle/check_result.h"
#include "runtime/internal/sandbox/sandbox.h"

namespace muster::runtime {

/// The commands that run inside one pod's containers in addition to their programs: for probes and
/// hooks, and for clients of the API. Thread: the loop.
class PodExecs {
  public:
    explicit PodExecs(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    /// Sessions may outlive it, but have ended then.
    ~PodExecs();
    PodExecs(const PodExecs&) = delete;
    PodExecs& operator=(const PodExecs&) = delete;

    /// How many processes have had the sandbox before, if any: late reports for them are not ours.
    void begin_after(std::uint32_t others) { last_id_ = others << kIdsBits; }

    /// Runs a command in the container that was started as `container`, and succeeds if it exits
    /// with 0. If cancelled, it is killed. `sandbox` is valid until sandbox_gone() is called.
    Task<CheckResult> run(PodSandbox& sandbox, std::uint32_t container,
                          std::vector<std::string> argv);
    /// Starts a command with streams of its own.
    Result<std::unique_ptr<kube::CommandSession>> open(PodSandbox& sandbox, std::uint32_t container,
                                                       const kube::CommandOptions& options);

    /// Attaches to the container's own program: to its output from now on, and to its input if it
    /// has one.
    Result<std::unique_ptr<kube::CommandSession>> attach(PodSandbox& sandbox,
                                                         std::uint32_t container,
                                                         const kube::CommandOptions& options);

    /// A report of kind kExecEnded or kTerminal.
    void take(pod_init::Report report);
    /// Nothing of the pod runs any more.
    void sandbox_gone();

  private:
    class Command;
    class Check;
    class Session;

    static constexpr std::uint32_t kIdsBits = 20;

    asio::any_io_executor executor_;
    std::map<std::uint32_t, Command*> running_;  ///< owned by the tasks that wait for them
    std::uint32_t last_id_ = 0;
};

/// From a wait status and the output of the command.
CheckResult result_of_command(int wait_status, std::string output);

/// For the client: the exit code, or why the command did not start.
Result<int> end_of_command(int wait_status, std::string failure);

}  // namespace muster::runtime
