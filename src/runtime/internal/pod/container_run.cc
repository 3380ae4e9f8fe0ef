#include "runtime/internal/pod/container_run.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace muster::runtime {

Result<std::unique_ptr<ContainerRun>> ContainerRun::create(asio::any_io_executor executor,
                                                           pod_init::ContainerStart start,
                                                           std::filesystem::path log_file) {
    start.log_name = log_file.filename();
    TRY(auto log, LogFile::create(std::move(executor), std::move(log_file)));
    return std::make_unique<ContainerRun>(std::move(start), std::move(log));
}

Result<std::unique_ptr<ContainerRun>> ContainerRun::recovered(asio::any_io_executor executor,
                                                              pod_init::ContainerStart start,
                                                              std::filesystem::path log_file,
                                                              bool ended) {
    if (!ended) return create(std::move(executor), std::move(start), std::move(log_file));
    TRY(auto log, LogFile::open(std::move(executor), std::move(log_file)));
    return std::make_unique<ContainerRun>(std::move(start), std::move(log));
}

Result<void> ContainerRun::launch(PodSandbox& sandbox, const std::vector<UniqueFd>& groups) {
    std::vector<int> directories;
    for (const UniqueFd& group : groups) directories.push_back(group.get());
    return sandbox.start_container(start_, log_->directory(), directories);
}

void ContainerRun::signal(int signal_number) const {
    if (pidfd_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal_number, nullptr, 0);
}

void ContainerRun::finish() {
    if (log_->finished()) return;
    log_->finish();
    pidfd_.reset();
}

}  // namespace muster::runtime
