#pragma once

#include <vector>

#include "cli/internal/prepare/machine_check.h"
#include "cli/internal/prepare/volume_check.h"
#include "control_plane/machine.h"
#include "kube/objects/pod.h"
#include "manifest/manifest.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

/// What one container of a pod can't find here: its command, program, script, interpreter, working
/// directory and devices. `made`: the container as the job's kind makes it; null for a pod of the
/// user. It may have a command that the manifest leaves out. Adds to `found`.
void check_container(const manifest::Document& document, const manifest::PodSpecRef& pod,
                     const manifest::ContainerRef& ref, const kube::Container* made,
                     const std::vector<MountPoint>& mounts, const control_plane::Machine& machine,
                     const Surroundings& around, MachineProblems& found);

}  // namespace muster::cli
