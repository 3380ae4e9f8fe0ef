#include "cli/internal/prepare/volume_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/values/json_access.h"
#include "runtime/container_paths.h"

namespace muster::cli {

namespace {

using runtime::is_below;
using runtime::normal_path;

using FileKind = control_plane::Machine::FileKind;

void check_host_paths(const manifest::Document& document, const manifest::PodSpecRef& pod,
                      const control_plane::Machine& machine, const Surroundings& around,
                      std::vector<manifest::Problem>& problems) {
    const json::array* volumes = kube::array_at(*pod.spec, "volumes");
    if (volumes == nullptr) return;
    for (std::size_t i = 0; i < volumes->size(); ++i) {
        const json::value& volume = (*volumes)[i];
        const json::value* source =
            volume.is_object() ? volume.get_object().if_contains("hostPath") : nullptr;
        if (source == nullptr || !source->is_object()) continue;
        const std::string_view type = kube::string_at(source->get_object(), "type");
        if (type.ends_with("OrCreate")) continue;
        std::string path = normal_path(kube::string_at(source->get_object(), "path"));
        for (const auto& [image, directory] : around.mounts)
            if (is_below(path, image))
                path = directory + path.substr(image == "/" ? 0 : image.size());
        if (machine.kind_of(path) != FileKind::kMissing) continue;
        problems.push_back(document.problem(
            manifest::Severity::kError, fmt::format("{}.volumes[{}].hostPath.path", pod.path, i),
            fmt::format("{0} does not exist on this machine; create it, or name the directory that "
                        "replaces it with --mount {0}=DIR",
                        path)));
    }
}

}  // namespace

void check_volumes(const manifest::Document& document, const manifest::PodSpecRef& pod,
                   const control_plane::Machine& machine, const Surroundings& around,
                   std::vector<manifest::Problem>& problems) {
    check_host_paths(document, pod, machine, around, problems);
}

std::vector<MountPoint> mount_points(const manifest::ContainerRef& container,
                                     const kube::Container* made) {
    std::vector<MountPoint> points;
    if (const json::array* mounts = kube::array_at(*container.container, "volumeMounts"))
        for (std::size_t i = 0; i < mounts->size(); ++i)
            if (const json::object* mount = (*mounts)[i].if_object())
                points.push_back({fmt::format("{}.volumeMounts[{}].mountPath", container.path, i),
                                  normal_path(kube::string_at(*mount, "mountPath")),
                                  std::string(kube::string_at(*mount, "name")), true});
    if (made == nullptr) return points;
    for (const kube::VolumeMount& mount : made->volume_mounts) {
        std::string path = normal_path(mount.mount_path);
        if (std::ranges::find(points, path, &MountPoint::path) == points.end())
            points.push_back({container.path, std::move(path), mount.name});
    }
    return points;
}

void check_mount_points(const manifest::Document& document, const std::vector<MountPoint>& points,
                        const control_plane::Machine& machine, const Surroundings& around,
                        std::vector<manifest::Problem>& problems) {
    std::set<std::string_view> mounted;
    for (const MountPoint& point : points) mounted.insert(point.path);
    for (const auto& [image, directory] : around.mounts) mounted.insert(image);
    for (const MountPoint& point : points) {
        // Missing directories on the way are created; mounted ones are not this machine's.
        for (std::size_t end = point.path.find('/', 1); end != std::string::npos;
             end = point.path.find('/', end + 1)) {
            const std::string directory = point.path.substr(0, end);
            if (mounted.contains(directory) || machine.kind_of(directory) == FileKind::kMissing)
                break;
            if (machine.may_enter(directory)) continue;
            problems.push_back(document.problem(
                manifest::Severity::kError, point.field,
                fmt::format("volume \"{}\" can't be mounted at {}: you may not enter {}; {}, or "
                            "start as root",
                            point.volume, point.path, directory,
                            point.written ? "mount it elsewhere"
                                          : "choose another place (of an MPIJob's key: "
                                            "spec.sshAuthMountPath)")));
            break;
        }
    }
}

}  // namespace muster::cli
