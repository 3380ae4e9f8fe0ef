#include "process/cgroup_hierarchies.h"

#include <algorithm>
#include <optional>

#include "base/fields.h"
#include "base/parse_number.h"
#include "process/mount_table.h"

namespace muster::process {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) parts.push_back(take_field(text, separator));
    return parts;
}

std::optional<Controller> controller_named(std::string_view name) {
    for (const Controller controller : kControllers)
        if (name == to_string(controller)) return controller;
    return std::nullopt;
}

std::set<Controller> controllers_in(std::string_view list) {
    std::set<Controller> controllers;
    for (const std::string_view name : split(list, ','))
        if (const auto controller = controller_named(name)) controllers.insert(*controller);
    return controllers;
}

/// The path in `own_groups` of the tree with these controllers (none: version 2).
std::string own_path(std::string_view own_groups, const std::set<Controller>& controllers) {
    for (std::string_view line : split(own_groups, '\n')) {
        const std::string_view id = take_field(line, ':');
        const std::string_view list = take_field(line, ':');
        const bool same = controllers.empty() ? id == "0" && list.empty()
                                              : id != "0" && controllers_in(list) == controllers;
        if (same) return std::string(line);
    }
    return "/";
}

/// Where the group `path` is when the group `mounted` is mounted at `root`.
std::string visible_at(const std::string& root, const std::string& mounted,
                       const std::string& path) {
    if (path == mounted) return root;
    const std::string prefix = mounted == "/" ? "" : mounted;
    if (path.starts_with("/..") || !path.starts_with(prefix + "/") || path == "/") return root;
    return root + path.substr(prefix.size());
}

}  // namespace

std::string_view to_string(Controller controller) {
    switch (controller) {
        case Controller::kMemory:
            return "memory";
        case Controller::kCpu:
            return "cpu";
        case Controller::kPids:
            return "pids";
    }
    return "";
}

std::vector<CgroupHierarchy> find_cgroup_hierarchies(std::string_view mountinfo,
                                                     std::string_view own_groups) {
    std::vector<CgroupHierarchy> found;
    for (const MountEntry& mount : parse_mount_table(mountinfo)) {
        if (mount.type != "cgroup" && mount.type != "cgroup2") continue;
        CgroupHierarchy hierarchy;
        hierarchy.version = mount.type == "cgroup" ? CgroupVersion::kV1 : CgroupVersion::kV2;
        if (hierarchy.version == CgroupVersion::kV1) {
            hierarchy.controllers = controllers_in(mount.options);
            if (hierarchy.controllers.empty()) continue;
        }
        hierarchy.root = mount.path;
        hierarchy.own =
            visible_at(mount.path, mount.root, own_path(own_groups, hierarchy.controllers));
        const bool again = std::ranges::any_of(found, [&](const CgroupHierarchy& other) {
            return other.version == hierarchy.version && other.controllers == hierarchy.controllers;
        });
        if (!again) found.push_back(std::move(hierarchy));
    }
    return found;
}

std::int64_t oom_kills(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = take_field(text, '\n');
        constexpr std::string_view kKey = "oom_kill ";
        if (!line.starts_with(kKey)) continue;
        return leading_number<std::int64_t>(line.substr(kKey.size())).value_or(0);
    }
    return 0;
}

}  // namespace muster::process
