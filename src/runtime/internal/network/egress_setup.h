#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "runtime/internal/network/egress.h"

namespace muster::runtime {

/// What pods have of the world outside: egress, where that is possible, and how names resolve.
struct EgressSetup {
    std::unique_ptr<Egress> egress;
    /// What pods see as /etc/resolv.conf; empty where the machine has none. Made here, and static:
    /// it also holds once egress has ended.
    std::filesystem::path resolv_conf;
    /// Why there is no egress and what to do about it; empty when there is one.
    std::string notice;
};

/// `environment` has the PATH to find pasta in; `directory` is where resolv.conf is written.
/// `fabric` must outlive what this returns.
EgressSetup set_up_egress(const asio::any_io_executor& executor, PodFabric& fabric,
                          const std::vector<std::string>& environment,
                          const std::filesystem::path& directory);

/// Logs it when egress ends by itself. `egress` must outlive the task.
Task<void> watch_egress(Egress& egress);

}  // namespace muster::runtime
