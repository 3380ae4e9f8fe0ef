#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "pod_init/init_protocol.h"
#include "runtime/internal/files/pod_files.h"
#include "runtime/internal/files/volumes.h"
#include "runtime/internal/limits/identity.h"
#include "runtime/internal/pod/container_env.h"

namespace muster::runtime {

/// What is common to all containers of this node.
struct ContainerSurroundings {
    bool namespaces = false;
    std::filesystem::path working_dir;
    /// A path of the image -> a directory of this machine.
    std::map<std::filesystem::path, std::filesystem::path> image_mounts;
    /// Directories below /tmp that stay visible although the pod has its own /tmp: the caller's
    /// working directory, home and programs.
    std::vector<std::string> kept_below_tmp;
    /// The /etc/resolv.conf of containers whose pod has none of its own; empty if the machine has
    /// none.
    std::filesystem::path resolv_conf;
};

/// Why this container can't run here in any case; the message of its CreateContainerConfigError.
Result<void> check_container(const kube::Container& container, bool namespaces,
                             const kube::Pod& pod);

/// Everything that the init needs to start the container, except its id.
Result<pod_init::ContainerStart> plan_container(const kube::Container& container,
                                                ContainerProcess process,
                                                const ContainerSecurity& security,
                                                const ContainerSurroundings& surroundings,
                                                const PodDirectories& directories,
                                                const ReadyVolumes& volumes);

/// Where the container writes its termination message.
std::string termination_log_of(const kube::Container& container);

/// An argument that is the path of a file of this machine which the container does not see, because
/// it is below /tmp, and the container has a /tmp of its own.
std::optional<std::string> hidden_by_tmp(const pod_init::ContainerStart& start);

/// The names of containers that have only args. Their images, which are not here, might have an
/// entry point for these; without one they are the command, and so they are taken as it.
std::vector<std::string> containers_run_by_their_args(const kube::PodSpec& spec);

/// The message of a StartError: what could not be started, and what to do.
std::string describe_start_failure(const pod_init::StartFailure& failure,
                                   const pod_init::ContainerStart& start);

}  // namespace muster::runtime
