#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/prepare/file_objects.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/served_cluster.h"

namespace muster::cli {

/// A path of a flag; empty: the caller's directory.
std::string place_of(const std::string& path, const control_plane::Caller& caller);

struct FoundMappings {
    control_plane::PodMappings pods;
    std::string entrypoints_file;
};

/// The Secrets and ConfigMaps of the flags, as a person reads them; empty: there are none.
std::string names_of(const std::vector<FileObject>& objects);

/// What the flags map, as it is on this machine now.
Result<FoundMappings> find_mappings(const NodeMappings& flags, const control_plane::Caller& caller);

}  // namespace muster::cli
