#include "pod_init/internal/assume_identity.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace muster::pod_init {

int assume_identity(const Identity& identity, const char*& step) {
    // Plain system calls: the C library's would affect the threads of the process whose memory this
    // one may share.
    step = "giving up capabilities";
    if (identity.capabilities)
        for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
             ++capability)
            if ((*identity.capabilities >> capability & 1u) == 0 &&
                ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
                return errno;
    step = "taking its groups";
    if (identity.groups &&
        ::syscall(SYS_setgroups, identity.groups->size(), identity.groups->data()) < 0)
        return errno;
    if (identity.gid && ::syscall(SYS_setresgid, *identity.gid, *identity.gid, *identity.gid) < 0)
        return errno;
    step = "becoming its user";
    if (identity.uid && ::syscall(SYS_setresuid, *identity.uid, *identity.uid, *identity.uid) < 0)
        return errno;
    step = "setting no_new_privs";
    if (identity.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
    return 0;
}

}  // namespace muster::pod_init
