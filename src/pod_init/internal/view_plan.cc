#include "pod_init/internal/view_plan.h"

#include <algorithm>
#include <array>
#include <map>

namespace muster::pod_init {

bool is_of_the_kernel(std::string_view type) {
    constexpr std::array<std::string_view, 21> kTypes = {
        "autofs", "binfmt_misc", "bpf",      "cgroup",     "cgroup2",    "configfs", "debugfs",
        "devpts", "devtmpfs",    "efivarfs", "fusectl",    "hugetlbfs",  "mqueue",   "nsfs",
        "proc",   "pstore",      "resctrl",  "rpc_pipefs", "securityfs", "sysfs",    "tracefs"};
    return std::ranges::find(kTypes, type) != kTypes.end();
}

bool lies_below(std::string_view path, std::string_view directory) {
    if (directory == "/") return path.size() > 1 && path.starts_with('/');
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
}

std::vector<ViewPoint> plan_private_view(const std::vector<process::MountEntry>& mounts,
                                         const std::vector<std::string>& kept) {
    using How = ViewPoint::How;
    std::map<std::string, How> points;
    for (const process::MountEntry& mount : mounts)
        points[mount.path] = is_of_the_kernel(mount.type) || mount.path == "/dev" ? How::kShare
                             : mount.read_only                                    ? How::kFreeze
                                                                                  : How::kOverlay;
    points["/"] = How::kOverlay;
    for (const std::string& path : kept) points[path] = How::kShare;
    std::vector<ViewPoint> view;
    for (const auto& [path, how] : points) {
        const bool comes_along = std::ranges::any_of(points, [&](const auto& other) {
            return other.second == How::kShare && lies_below(path, other.first);
        });
        if (!comes_along) view.push_back({path, how});
    }
    std::ranges::sort(view, {}, [](const ViewPoint& point) {
        const auto depth = point.path == "/" ? 0 : std::ranges::count(point.path, '/');
        return std::pair(depth, point.path);
    });
    return view;
}

}  // namespace muster::pod_init
