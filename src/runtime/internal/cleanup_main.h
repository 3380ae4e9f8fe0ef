#pragma once

namespace muster::runtime {

/// What a process is started with to become a keeper, and where it finds its socket.
inline constexpr const char* kKeeperArgument = "--muster-keeper";
inline constexpr int kKeeperControlFd = 3;

/// The first byte of a message to it; the rest is a path, or a descriptor comes along.
enum class KeeperMessage : char { kProcess = 'p', kDirectory = 'd', kGroup = 'g', kLock = 'l' };

/// The body of the process. Returns its exit status.
int run_keeper();

}  // namespace muster::runtime
