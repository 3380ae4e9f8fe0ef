#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "cli/internal/fault_injection/fault_protocol.h"
#include "cli/internal/fault_injection/line_stream.h"
#include "control_plane/local_cluster.h"

namespace muster::cli {

/// The name of the socket in a run's state directory.
inline constexpr const char* kFaultSocket = "drill";

/// Where the fault injection verbs reach a `muster run`: a Unix socket in its state directory, for
/// this user only. Faults that were begun over a connection end with it. Thread: the loop. stop()
/// before it is destroyed, and before the cluster stops.
class FaultSocket {
  public:
    FaultSocket(asio::any_io_executor executor, Clock& clock, control_plane::LocalCluster& cluster)
        : clock_(clock), cluster_(cluster), tasks_(std::move(executor)) {}

    /// Below `directory`, which is private.
    Result<void> open(const std::filesystem::path& directory);
    Task<void> stop();

  private:
    class Held;

    Task<void> serve(std::unique_ptr<net::ByteStream> bytes);
    Task<std::string> answer(std::string line, Held& held);
    Task<std::string> list();

    Clock& clock_;
    control_plane::LocalCluster& cluster_;
    std::unique_ptr<net::Listener> listener_;
    TaskGroup tasks_;
};

}  // namespace muster::cli
