#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// Where a path of a container leads. Whoever makes or mounts something there does it by way of the
/// descriptor: a path that is looked up again may lead elsewhere by then.
struct PathInRoot {
    UniqueFd deepest;          ///< O_PATH: what exists of it
    bool is_directory = true;  ///< what `deepest` is
    std::string existing;      ///< the path of `deepest`, without links; "/" for the root
    /// Of what is not there, each name.
    std::vector<std::string> missing;

    bool exists() const { return missing.empty(); }
    /// The whole path, without links.
    std::string path() const;
};

/// Follows the path inside the caller's root, as a cluster's runtime does inside that of a
/// container: links are followed by their text, `..` never leaves the root, and takes a name away
/// also where nothing is there. A link of /proc that the kernel follows by no text is an error
/// unless it leads to the root.
Result<PathInRoot> find_in_root(const std::string& path);

/// Whether it is a file of a /proc.
bool is_of_proc(int fd);

}  // namespace muster::pod_init
