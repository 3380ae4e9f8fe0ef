#pragma once

#include <filesystem>
#include <memory>

#include "base/task_group.h"
#include "runtime/internal/init_protocol.h"
#include "runtime/internal/log_file.h"
#include "runtime/internal/output_pump.h"
#include "runtime/internal/sandbox.h"

namespace muster::runtime {

/// One instance of a container: its outputs, its log, and its main process by pidfd. Stays after
/// its end for the log's sake. Thread: the loop.
class ContainerRun {
  public:
    static Result<std::unique_ptr<ContainerRun>> create(asio::any_io_executor executor,
                                                        Clock& clock, ContainerStart start,
                                                        std::filesystem::path log_file);

    /// Hands the container to the sandbox's init, and its outputs to `tasks`.
    Result<void> launch(PodSandbox& sandbox, TaskGroup& tasks);
    void started(UniqueFd pidfd) { pidfd_ = std::move(pidfd); }
    void signal(int signal_number) const;
    /// Takes the last output and closes the log.
    void finish();
    /// Removes the log file from disk; readers that have it open keep it.
    void discard();

    std::uint32_t id() const { return start_.id; }
    const ContainerStart& start() const { return start_; }
    const std::shared_ptr<LogFile>& log() const { return log_; }

    ContainerRun(Clock& clock, ContainerStart start, std::shared_ptr<LogFile> log)
        : clock_(clock), start_(std::move(start)), log_(std::move(log)) {}

  private:
    Clock& clock_;
    ContainerStart start_;
    std::shared_ptr<LogFile> log_;
    std::shared_ptr<OutputPump> stdout_;
    std::shared_ptr<OutputPump> stderr_;
    UniqueFd stdout_writer_;
    UniqueFd stderr_writer_;
    UniqueFd pidfd_;
};

}  // namespace muster::runtime
