#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/internal/lifecycle/handler.h"
#include "runtime/internal/lifecycle/probe.h"

namespace muster::runtime {

struct ProbeSpec {
    Handler handler;
    ProbeTiming timing;
    /// Grace period of a kill by this probe, if it differs from the pod's.
    std::optional<Duration> grace;
};

enum class HookKind : std::uint8_t { kPostStart, kPreStop };

/// "PostStart", for events.
std::string_view hook_name(HookKind kind);

/// The probes and hooks of a container.
struct ContainerLifecycle {
    std::optional<ProbeSpec> startup;
    std::optional<ProbeSpec> liveness;
    std::optional<ProbeSpec> readiness;
    std::optional<Handler> post_start;
    std::optional<Handler> pre_stop;
    int stop_signal = SIGTERM;

    const ProbeSpec& probe(ProbeKind kind) const;
    ProbeTimings timings() const;
};

/// Reads the probes and hooks of a container with a kubelet's defaults (API reference of v1 Probe
/// and Lifecycle). kUnsupported and kInvalid name the field and what to do.
Result<ContainerLifecycle> read_lifecycle(const kube::Container& container);
/// Of all containers, init containers first.
Result<std::vector<ContainerLifecycle>> read_lifecycles(const kube::PodSpec& spec);

}  // namespace muster::runtime
