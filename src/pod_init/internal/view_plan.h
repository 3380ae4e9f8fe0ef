#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "process/mount_table.h"

namespace muster::pod_init {

/// A file system that the kernel generates; it has no files that a program could damage.
bool is_of_the_kernel(std::string_view type);

/// True for a path below the directory, not for the directory itself.
bool lies_below(std::string_view path, std::string_view directory);

/// What a private view does at one path, outermost first.
struct ViewPoint {
    enum class How {
        kOverlay,  ///< copy on write
        kShare,    ///< the machine's own, with all mounts below
        kFreeze,   ///< the machine's own, read-only: it already is, or it is a single file
    };
    std::string path;
    How how = How::kOverlay;

    friend bool operator==(const ViewPoint&, const ViewPoint&) = default;
};

/// A view of the whole machine in which no write persists, except at `kept` paths and below them.
/// Mounts below a shared path are included.
std::vector<ViewPoint> plan_private_view(const std::vector<process::MountEntry>& mounts,
                                         const std::vector<std::string>& kept);

}  // namespace muster::pod_init
