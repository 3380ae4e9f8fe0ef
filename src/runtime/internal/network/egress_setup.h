#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "runtime/internal/network/egress.h"

namespace muster::runtime {

/// What pods have of the world outside: the way there, if there can be one, and how names resolve.
struct Outside {
    std::unique_ptr<WayOut> way;
    /// What pods see as /etc/resolv.conf; empty where the machine has none. Made here, and static:
    /// it also holds once the way out is closed.
    std::filesystem::path resolv_conf;
    /// Why there is no way out and what to do about it; empty when there is one.
    std::string notice;
};

/// `environment` has the PATH to find pasta in; `directory` is where resolv.conf is written.
/// `fabric` must outlive what this returns.
Outside open_outside(const asio::any_io_executor& executor, PodFabric& fabric,
                     const std::vector<std::string>& environment,
                     const std::filesystem::path& directory);

/// Says so in the log should the way out close by itself. `way` must outlive the task.
Task<void> watch_way_out(WayOut& way);

}  // namespace muster::runtime
