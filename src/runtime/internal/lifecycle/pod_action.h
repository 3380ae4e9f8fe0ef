#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/client/event_recorder.h"
#include "runtime/internal/lifecycle/lifecycle.h"
#include "runtime/internal/lifecycle/probe.h"

namespace muster::runtime {

/// An action for the pod's shell.
struct PodAction {
    enum class Kind {
        kCreateSandbox,
        kStartContainer,  ///< container
        kSignal,          ///< container, signal
        kRunProbe,        ///< container, instance, probe; answered by probe_ended()
        kRunHook,         ///< container, instance, hook; answered by hook_ended()
        kKillSandbox,
        kRecordEvent,  ///< event_type, reason, message
        kDeletePod,    ///< write the final status, then remove the object
    };

    Kind kind;
    std::size_t container = 0;
    int signal = 0;
    std::uint32_t instance = 0;
    ProbeKind probe = ProbeKind::kStartup;
    HookKind hook = HookKind::kPostStart;
    kube::EventType event_type = kube::EventType::kNormal;
    std::string reason;
    std::string message;

    friend bool operator==(const PodAction&, const PodAction&) = default;
};
using PodActions = std::vector<PodAction>;

PodAction make_action(PodAction::Kind kind, std::size_t container = 0);
PodAction make_event(kube::EventType type, std::string reason, std::string message);

/// A moment by both clocks.
struct PodTime {
    Instant mono;
    WallTime wall;
};

}  // namespace muster::runtime
