#pragma once

#include <map>
#include <string>

#include "runtime/internal/pod/pod_context.h"
#include "runtime/internal/pod/pod_volumes.h"

namespace muster::runtime {

/// Starts the instances of a pod's containers: plans each one, makes its log and its cgroups, and
/// passes it to the sandbox. Thread: the loop.
class ContainerStarter {
  public:
    ContainerStarter(PodContext& pod, const PodVolumes& volumes) : pod_(pod), volumes_(volumes) {}

    /// An error says what the container lacks. Does nothing if the sandbox ends meanwhile.
    Task<Result<void>> start(std::size_t index);

  private:
    Result<void> launch(std::size_t index);
    Result<pod_init::ContainerStart> plan(std::size_t index);
    /// The addresses of names in the container's environment, if pods share the machine's network.
    std::map<std::string, std::string, std::less<>> addresses_for(std::size_t index);
    void warn_about_tmp(const pod_init::ContainerStart& start);

    PodContext& pod_;
    const PodVolumes& volumes_;
    bool warned_about_tmp_ = false;
};

}  // namespace muster::runtime
