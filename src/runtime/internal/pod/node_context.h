#pragma once

#include <functional>
#include <string>

#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/values/quantity.h"
#include "runtime/internal/files/log_file.h"
#include "runtime/internal/lifecycle/network_check.h"
#include "runtime/internal/limits/pod_isolation.h"
#include "runtime/internal/network/hosts_files.h"
#include "runtime/internal/network/names.h"
#include "runtime/internal/pod/container_plan.h"
#include "runtime/internal/sandbox/sandbox.h"
#include "runtime/node.h"

namespace muster::runtime {

class ClaimsInUse;
class DataWatch;

/// What the pods of a node share. Outlives them.
struct NodeContext {
    asio::any_io_executor executor;
    Clock& clock;
    const NodeOptions& options;
    kube::Client& client;
    kube::EventRecorder& events;
    SandboxHost& sandboxes;
    NameTable& names;
    HostsFiles& hosts;
    LogWatch& log_watch;
    DataWatch& data_watch;
    ClaimsInUse& claims;
    NodeIsolation& isolation;
    ContainerSurroundings surroundings;
    kube::Quantity cpu;
    kube::Quantity memory;
    std::string host_ip;
    /// Opens sockets from which the pods' addresses can be reached.
    OpenSocket open_socket;
};

}  // namespace muster::runtime
