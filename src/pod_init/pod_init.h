#pragma once

namespace muster::pod_init {

/// Where the process finds its socket.
inline constexpr int kControlFd = 3;

/// The body of the process. Returns its exit status.
int run();

}  // namespace muster::pod_init
