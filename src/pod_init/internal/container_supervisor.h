#pragma once

#include <sys/types.h>

#include "pod_init/init_protocol.h"

namespace muster::pod_init {

/// The body of a container's supervisor, a process forked by the pod's init: makes the container's
/// mounts, executes its program, writes its log, runs commands inside it, reaps everything that the
/// container leaves (it is the subreaper of the container's whole tree, so a double fork does not
/// escape), and reports over `control`, its own socket to the init.
///
/// When the main process ends, everything else that the container started is killed before the end
/// is reported: on a cluster the container's PID namespace does that. When the other end of
/// `control` closes, or the process `init` ends, everything is killed. Never returns; exit status 0
/// means that the end was reported.
[[noreturn]] void supervise_container(UniqueFd control, Request request, bool namespaces,
                                      pid_t init);

}  // namespace muster::pod_init
