#pragma once

#include "base/result.h"
#include "pod_init/private_files.h"

namespace muster::pod_init {

/// Makes that view in the calling process's mount namespace, whose mounts are private. An overlay
/// for each file system that is mounted; where an ordinary user's kernel refuses that because of
/// what is mounted below, one for each directory beside it, and files in between are read-only.
/// (An ordinary user can change nothing in a directory of somebody else: EOVERFLOW.)
/// After it the root is another one. Plain system calls.
Result<void> set_up_private_files(const PrivateFiles& files);

}  // namespace muster::pod_init
