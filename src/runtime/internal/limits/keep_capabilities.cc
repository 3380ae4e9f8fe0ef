#include "runtime/internal/limits/keep_capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::runtime {

// The credentials are the new process's own, though the memory is shared.
__attribute__((no_sanitize("address", "undefined"))) void keep_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capget, &header, sets) < 0) return;
    for (auto& set : sets) set.inheritable = set.permitted;
    if (::syscall(SYS_capset, &header, sets) < 0) return;
    for (unsigned long capability = 0; capability < 64; ++capability)
        if ((sets[capability / 32].permitted >> (capability % 32) & 1u) != 0)
            ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

}  // namespace muster::runtime
