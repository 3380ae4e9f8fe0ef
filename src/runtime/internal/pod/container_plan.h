#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "pod_init/init_protocol.h"
#include "runtime/internal/files/volumes.h"
#include "runtime/internal/limits/identity.h"
#include "runtime/internal/pod/container_env.h"

namespace muster::runtime {

/// What every container of this node is made with.
struct ContainerSurroundings {
    bool namespaces = false;
    std::filesystem::path working_dir;
    /// A path of the image -> a directory of this machine.
    std::map<std::filesystem::path, std::filesystem::path> image_mounts;
    /// Directories below /tmp that stay visible although /tmp is the pod's own: the caller's
    /// working directory, home and programs.
    std::vector<std::string> kept_below_tmp;
    /// What containers see as /etc/resolv.conf; empty where the machine has none.
    std::filesystem::path resolv_conf;
};

/// The pod's own files on the machine.
struct PodDirectories {
    std::filesystem::path hosts;     ///< file
    std::filesystem::path hostname;  ///< file
    std::filesystem::path tmp;
    std::filesystem::path scratch;
    std::filesystem::path termination_log;  ///< file
};

/// Why this container can't run here whatever else there is; the message of its
/// CreateContainerConfigError.
Result<void> check_container(const kube::Container& container, bool namespaces,
                             const kube::Pod& pod);

/// Everything that the init needs to start the container, but its id.
Result<pod_init::ContainerStart> plan_container(const kube::Container& container,
                                                ContainerProcess process,
                                                const ContainerSecurity& security,
                                                const ContainerSurroundings& surroundings,
                                                const PodDirectories& directories,
                                                const ReadyVolumes& volumes);

/// Where the container writes its termination message.
std::string termination_log_of(const kube::Container& container);

/// The directories of `environment` (HOME, PATH) and `working_dir` that lie below /tmp.
std::vector<std::string> find_kept_below_tmp(const std::vector<std::string>& environment,
                                             const std::filesystem::path& working_dir);

/// An argument that is the path of a file of this machine which the container does not see, because
/// it lies below the /tmp that the container's own takes the place of.
std::optional<std::string> hidden_by_tmp(const pod_init::ContainerStart& start);

/// "containers[0].readinessProbe" and the like: fields that ask for something which this node does
/// not do.
std::vector<std::string> fields_without_effect(const kube::Pod& pod);

/// The names of those that have args alone. Their images, which are not here, might have an entry
/// point that takes these; without one they are the command, and so they are taken.
std::vector<std::string> containers_run_by_their_args(const kube::PodSpec& spec);

/// The message of a StartError: what could not be started, and what to do.
std::string describe_start_failure(const pod_init::StartFailure& failure,
                                   const pod_init::ContainerStart& start);

}  // namespace muster::runtime
