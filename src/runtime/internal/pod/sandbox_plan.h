#pragma once

#include "runtime/internal/files/volumes.h"
#include "runtime/internal/pod/pod_context.h"
#include "runtime/internal/sandbox/sandbox.h"

namespace muster::runtime {

/// The sandbox for the pod, with `volumes` mounted for all of its containers. Makes the directory
/// in which private files are stored.
Result<SandboxSpec> plan_sandbox(const PodContext& pod, const ReadyVolumes& volumes);

}  // namespace muster::runtime
