#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::process {

/// One line of /proc/self/mountinfo.
struct MountEntry {
    std::string path;
    std::string type;
    bool read_only = false;
    std::string root = "/";    ///< the part of its file system that is mounted
    std::string options = {};  ///< of its file system: "rw,memory"

    friend bool operator==(const MountEntry&, const MountEntry&) = default;
};

/// In the order of the table: a later mount at the same path hides the earlier one.
std::vector<MountEntry> parse_mount_table(std::string_view mountinfo);

}  // namespace muster::process
