#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "process/mount_table.h"

namespace muster::pod_init {

/// A file system of the kernel's own making, which has no files that a program could spoil.
bool is_of_the_kernel(std::string_view type);

/// True for a path below the directory, not for the directory itself.
bool lies_below(std::string_view path, std::string_view directory);

/// What a private view does at one path, from the outside in.
struct ViewPoint {
    enum class How {
        kOverlay,  ///< copy on write
        kShare,    ///< the machine's own, with all that is mounted below
        kFreeze,   ///< the machine's own, read-only: it is so, or it is a single file
    };
    std::string path;
    How how = How::kOverlay;

    friend bool operator==(const ViewPoint&, const ViewPoint&) = default;
};

/// A view of the whole machine in which nothing that is written stays, but for `kept` paths and
/// what is below them. What is mounted below a shared path comes with it.
std::vector<ViewPoint> plan_private_view(const std::vector<process::MountEntry>& mounts,
                                         const std::vector<std::string>& kept);

}  // namespace muster::pod_init
