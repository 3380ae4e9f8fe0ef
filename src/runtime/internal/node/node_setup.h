#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/internal/files/log_file.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/node/recovered_pods.h"
#include "runtime/internal/sandbox/sandbox.h"
#include "runtime/node.h"

namespace muster::runtime {

/// The parts of a node, once it is known what the kernel allows.
struct NodeParts {
    NodeOptions options;
    Cgroups cgroups;
    RecoveredPods recovered;
    SandboxHost sandboxes;
    std::unique_ptr<LogWatch> log_watch;
    std::vector<std::string> notices;
};

/// An error says what is missing and what to do. Blocks for a few milliseconds. To be called before
/// the process has other threads.
Result<NodeParts> set_up_node(const asio::any_io_executor& executor, NodeOptions options);

}  // namespace muster::runtime
