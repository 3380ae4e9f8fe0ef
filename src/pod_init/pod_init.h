#pragma once

namespace muster::pod_init {

/// The descriptor of the process's control socket.
inline constexpr int kControlFd = 3;

/// The body of the process. Returns its exit status.
int run();

}  // namespace muster::pod_init
