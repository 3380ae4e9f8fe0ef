#pragma once

#include "base/result.h"
#include "pod_init/private_files.h"

namespace muster::pod_init {

/// Makes that view in the calling process's mount namespace, whose mounts are private. It has an
/// overlay for each mounted file system. If an ordinary user's kernel refuses that because of
/// mounts below it, there is one for each directory beside those mounts, and files in between are
/// read-only. (An ordinary user can't change anything in another user's directory: EOVERFLOW.)
/// Afterwards the root is another one. Plain system calls.
Result<void> set_up_private_files(const PrivateFiles& files);

}  // namespace muster::pod_init
