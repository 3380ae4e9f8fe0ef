#pragma once

namespace muster::runtime {

/// Where the process finds its socket.
inline constexpr int kPodInitControlFd = 3;

/// The body of the process. Returns its exit status.
int run_pod_init();

}  // namespace muster::runtime
