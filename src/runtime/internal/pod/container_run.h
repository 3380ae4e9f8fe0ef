#pragma once

#include <filesystem>
#include <memory>

#include "pod_init/init_protocol.h"
#include "runtime/internal/files/log_file.h"
#include "runtime/internal/sandbox/sandbox.h"
#include "runtime/internal/usage/process_table.h"

namespace muster::runtime {

/// One instance of a container: its log, and its main process by pidfd. Kept after its end for its
/// log. Thread: the loop.
class ContainerRun {
  public:
    static Result<std::unique_ptr<ContainerRun>> create(asio::any_io_executor executor,
                                                        pod_init::ContainerStart start,
                                                        std::filesystem::path log_file);

    /// One that an earlier process started, as far as it is known; its log is on disk.
    static Result<std::unique_ptr<ContainerRun>> recovered(asio::any_io_executor executor,
                                                           pod_init::ContainerStart start,
                                                           std::filesystem::path log_file,
                                                           bool ended);

    /// Passes the container to the sandbox's init, to run in those cgroups.
    Result<void> launch(PodSandbox& sandbox, const std::vector<UniqueFd>& groups);
    void started(UniqueFd pidfd) { pidfd_ = std::move(pidfd); }
    void signal(int signal_number) const;
    /// Its main process, as seen by this process; 0 if it is not running.
    pid_t process() const { return pidfd_ ? process_of(pidfd_.get()) : 0; }
    /// Its log is complete.
    void finish();
    /// Removes the log from disk; readers that have it open keep it.
    void discard() { log_->discard(); }

    std::uint32_t id() const { return start_.id; }
    const pod_init::ContainerStart& start() const { return start_; }
    const std::shared_ptr<LogFile>& log() const { return log_; }

    ContainerRun(pod_init::ContainerStart start, std::shared_ptr<LogFile> log)
        : start_(std::move(start)), log_(std::move(log)) {}

  private:
    pod_init::ContainerStart start_;
    std::shared_ptr<LogFile> log_;
    UniqueFd pidfd_;
};

}  // namespace muster::runtime
