#include "runtime/internal/container_run.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace muster::runtime {

namespace {

/// Holds its pump until the pump's coroutine is done with it.
Task<void> run_pump(std::shared_ptr<OutputPump> pump) { co_await pump->run(); }

}  // namespace

Result<std::unique_ptr<ContainerRun>> ContainerRun::create(asio::any_io_executor executor,
                                                           Clock& clock, ContainerStart start,
                                                           std::filesystem::path log_file) {
    TRY(auto log, LogFile::create(executor, std::move(log_file)));
    auto run = std::make_unique<ContainerRun>(clock, std::move(start), log);
    TRY(auto out, OutputPump::create(executor, clock, log, LogStream::kStdout));
    TRY(auto err, OutputPump::create(executor, clock, log, LogStream::kStderr));
    run->stdout_ = std::move(out.first);
    run->stdout_writer_ = std::move(out.second);
    run->stderr_ = std::move(err.first);
    run->stderr_writer_ = std::move(err.second);
    return run;
}

Result<void> ContainerRun::launch(PodSandbox& sandbox, TaskGroup& tasks) {
    auto sent = sandbox.start_container(start_, stdout_writer_.get(), stderr_writer_.get());
    stdout_writer_.reset();
    stderr_writer_.reset();
    if (!sent) return sent;
    tasks.spawn("stdout", run_pump(stdout_));
    tasks.spawn("stderr", run_pump(stderr_));
    return {};
}

void ContainerRun::signal(int signal_number) const {
    if (pidfd_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal_number, nullptr, 0);
}

void ContainerRun::finish() {
    if (log_->finished()) return;
    stdout_->drain();
    stderr_->drain();
    log_->finish(clock_.wall_now());
    pidfd_.reset();
}

void ContainerRun::discard() {
    std::error_code ignored;
    std::filesystem::remove(log_->path(), ignored);
}

}  // namespace muster::runtime
