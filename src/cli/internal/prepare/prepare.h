#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/internal/prepare/manifest_options.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"
#include "manifest/check.h"

namespace muster::cli {

/// A manifest that was read, adjusted and checked.
struct Prepared {
    std::vector<manifest::CheckedObject> objects;
    std::vector<manifest::Problem>
        problems;  ///< sorted; objects may only be used when none is an error
    /// What is wrong besides where each pod has a /tmp of its own, which is known when the node is
    /// there. Sorted.
    std::vector<manifest::Problem> problems_with_own_tmp;
    std::vector<std::string> notices;  ///< what was changed to fit this machine
    std::string working_dir;           ///< of containers without one
    std::map<std::filesystem::path, std::filesystem::path> mounts;  ///< absolute
    std::map<std::string, std::string> claims;  ///< the directories of claims; absolute
    std::string cluster_domain;                 ///< empty if none is set
};

/// Reads the files and runs every check, so that all problems of all files are reported together.
Prepared prepare(const ManifestOptions& options, const control_plane::Caller& caller,
                 const control_plane::Machine& machine);

}  // namespace muster::cli
