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
    std::string root = "/";    ///< what of its file system is mounted
    std::string options = {};  ///< of its file system: "rw,memory"

    friend bool operator==(const MountEntry&, const MountEntry&) = default;
};

/// In the order of the table: what is mounted later at the same path hides the earlier.
std::vector<MountEntry> parse_mount_table(std::string_view mountinfo);

}  // namespace muster::process
