#pragma once

namespace muster::runtime {

/// What a process is started with to become a pod's init, and where it finds its socket.
inline constexpr const char* kPodInitArgument = "--muster-pod-init";
inline constexpr int kPodInitControlFd = 3;

/// The body of the process. Returns its exit status.
int run_pod_init();

}  // namespace muster::runtime
