#include "jobs/internal/program_in_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

namespace muster::jobs {
namespace {

constexpr std::int64_t kNobody = 65532;  ///< as images without users have it

kube::VolumeMount mount(std::string_view path, bool read_only) {
    kube::VolumeMount made;
    made.name = kProgramVolume;
    made.mount_path = path;
    if (read_only) made.read_only = true;
    return made;
}

/// Limits equal to the requests keep a pod's QoS class.
kube::Container copier(const std::string& image, std::string_view target) {
    static const kube::ResourceList kEnough{{"cpu", "100m"}, {"memory", "64Mi"}};
    kube::Container container;
    container.name = kProgramVolume;
    container.image = image;
    container.command = {std::string(kProgramInImage), "copy", std::string(target)};
    container.resources.limits = container.resources.requests = kEnough;
    container.volume_mounts.push_back(mount(kProgramDirectory, false));
    container.rest["imagePullPolicy"] = "IfNotPresent";
    container.rest["securityContext"] = least_rights();
    return container;
}

/// From the image; `target` is what the init container is told to copy to.
kube::Volume volume_of_image(const Platform& platform, kube::Pod& pod, std::string_view target) {
    kube::Volume volume;
    volume.name = kProgramVolume;
    if (platform.image_volumes) {
        volume.rest["image"] = {{"reference", platform.program_image},
                                {"pullPolicy", "IfNotPresent"}};
    } else {
        volume.empty_dir.emplace();
        pod.spec.init_containers.push_back(copier(platform.program_image, target));
    }
    return volume;
}

}  // namespace

json::object least_rights() {
    return {{"runAsNonRoot", true},
            {"runAsUser", kNobody},
            {"runAsGroup", kNobody},
            {"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", json::array{"ALL"}}}},
            {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

std::string program_in_pods(const Platform& platform) {
    if (!platform.gives_program()) return "muster";
    if (platform.node_program.empty() && platform.image_volumes)
        return fmt::format("{}{}", kProgramDirectory, kProgramInImage);
    return std::string(kProgramInPods);
}

void add_program(const Platform& platform, kube::Pod& pod, kube::Container& container) {
    if (!platform.gives_program()) return;
    kube::Volume volume;
    volume.name = kProgramVolume;
    if (!platform.node_program.empty()) {
        volume.host_path =
            kube::HostPathVolumeSource{.path = platform.node_program, .type = "File"};
        container.volume_mounts.push_back(mount(kProgramInPods, true));
    } else {
        volume = volume_of_image(platform, pod, kProgramInPods);
        container.volume_mounts.push_back(mount(kProgramDirectory, true));
    }
    pod.spec.volumes.push_back(std::move(volume));
}

std::string agent_folder_in_pods(const Platform& platform) {
    return platform.image_volumes ? fmt::format("{}{}", kProgramDirectory, kAgentFolderInImage)
                                  : std::string(kProgramDirectory);
}

void add_agent_folder(const Platform& platform, kube::Pod& pod, kube::Container& container) {
    container.volume_mounts.push_back(mount(kProgramDirectory, true));
    if (std::ranges::find(pod.spec.volumes, kProgramVolume, &kube::Volume::name) ==
        pod.spec.volumes.end())
        pod.spec.volumes.push_back(volume_of_image(platform, pod, kProgramDirectory));
}

}  // namespace muster::jobs
