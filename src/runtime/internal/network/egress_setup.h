#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "runtime/internal/network/egress.h"

namespace muster::runtime {

/// The pods' access to the outside: egress, if that is possible, and how names resolve.
struct EgressSetup {
    std::unique_ptr<Egress> egress;
    /// The /etc/resolv.conf of pods; empty if the machine has none. Made here, and static: it also
    /// works once egress has ended.
    std::filesystem::path resolv_conf;
    /// Why there is no egress and what to do about it; empty if there is egress.
    std::string notice;
};

/// `environment` has the PATH in which to find pasta; resolv.conf is written to `directory`.
/// `fabric` must outlive the result.
EgressSetup set_up_egress(const asio::any_io_executor& executor, PodFabric& fabric,
                          const std::vector<std::string>& environment,
                          const std::filesystem::path& directory);

/// Logs it if egress ends by itself. `egress` must outlive the task.
Task<void> watch_egress(Egress& egress);

}  // namespace muster::runtime
