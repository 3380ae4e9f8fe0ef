#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kube/client/client.h"
#include "kube/objects/command_session.h"
#include "runtime/internal/pod/pod_context.h"
#include "runtime/internal/streams/pod_port.h"
#include "runtime/internal/usage/process_table.h"
#include "runtime/internal/usage/usage_sample.h"

namespace muster::runtime {

/// Requests of clients to a pod: logs, commands, ports, usage. None of them changes the pod's life.
/// Thread: the loop.
class PodAccess {
  public:
    explicit PodAccess(PodContext& pod) : pod_(pod) {}

    /// The log of one container, with the API's errors.
    Result<std::unique_ptr<kube::TextStream>> logs(const kube::LogOptions& options);
    /// A command in a running container, or without one its program, with the API's errors. The
    /// session may outlive this.
    Result<std::unique_ptr<kube::CommandSession>> exec(const kube::CommandOptions& options);
    /// Where one of its ports can be reached, while it runs.
    Result<PodPort> port(std::uint16_t number);
    /// What its running containers have used so far.
    std::vector<UsageSample::Container> used(const ProcessTable& processes) const;

  private:
    /// The log that a start of the container left on disk, counted from 1; null if there is none.
    /// An earlier process made it if no instance in memory has it.
    Result<std::shared_ptr<LogFile>> log_on_disk(std::size_t container, std::uint32_t launch) const;

    PodContext& pod_;
};

}  // namespace muster::runtime
