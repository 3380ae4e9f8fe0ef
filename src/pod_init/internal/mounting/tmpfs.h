#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// A new tmpfs that is mounted nowhere yet, with the options of mount(8), as "mode=0755,size=1024",
/// and the attributes of mount_setattr(2). The descriptor is its root.
Result<UniqueFd> new_tmpfs(const std::string& options, unsigned attributes);

}  // namespace muster::pod_init
