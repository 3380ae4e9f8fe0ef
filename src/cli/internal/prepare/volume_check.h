#pragma once

#include <string>
#include <vector>

#include "cli/internal/prepare/machine_check.h"
#include "kube/objects/pod.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

/// Reports volumes of the pod that are impossible on this machine: of types that only a cluster
/// has, and host paths that are missing.
void check_volumes(const manifest::Document& document, const manifest::PodSpecRef& pod,
                   const control_plane::Machine& machine, const Surroundings& around,
                   std::vector<manifest::Problem>& problems);

/// Where the container mounts a volume.
struct MountPoint {
    std::string field;
    std::string path;  ///< normal
    std::string volume;
    bool written = false;  ///< in the manifest, and not added by the job's kind
};

/// `made`: the container as the job's kind makes it, with additional mounts; null for a pod of the
/// user.
std::vector<MountPoint> mount_points(const manifest::ContainerRef& container,
                                     const kube::Container* made);

/// Reports those that the caller may not reach.
void check_mount_points(const manifest::Document& document, const std::vector<MountPoint>& points,
                        const control_plane::Machine& machine, const Surroundings& around,
                        std::vector<manifest::Problem>& problems);

}  // namespace muster::cli
