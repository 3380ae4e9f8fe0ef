#include "runtime/internal/files/mount_table.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/fields.h"

namespace muster::runtime {

namespace {

/// mountinfo writes blanks and backslashes of a path as three octal digits.
std::string unescaped(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 3 >= text.size()) {
            path += text[i];
            continue;
        }
        path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
        i += 3;
    }
    return path;
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view mountinfo) {
    std::vector<MountEntry> mounts;
    while (!mountinfo.empty()) {
        // id parent device root path options fields... - type source super-options
        std::string_view line = take_field(mountinfo, '\n');
        for (int skipped = 0; skipped < 3; ++skipped) take_field(line, ' ');
        MountEntry mount;
        mount.root = unescaped(take_field(line, ' '));
        mount.path = unescaped(take_field(line, ' '));
        const std::string_view options = take_field(line, ' ');
        mount.read_only = options == "ro" || options.starts_with("ro,");
        while (!line.empty() && take_field(line, ' ') != "-") {
        }
        mount.type = take_field(line, ' ');
        take_field(line, ' ');  // the source
        mount.options = line;
        if (!mount.path.empty() && !mount.type.empty()) mounts.push_back(std::move(mount));
    }
    return mounts;
}

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

std::vector<ViewPoint> plan_private_view(const std::vector<MountEntry>& mounts,
                                         const std::vector<std::string>& kept) {
    using How = ViewPoint::How;
    std::map<std::string, How> points;
    for (const MountEntry& mount : mounts)
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

}  // namespace muster::runtime
