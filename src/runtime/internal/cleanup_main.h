#pragma once

namespace muster::runtime {

/// What a process is started with to become a cleanup process, and where it finds its socket.
inline constexpr const char* kCleanupArgument = "--muster-cleanup";
inline constexpr int kCleanupControlFd = 3;

/// The first byte of a message to it; the rest is a path, or a descriptor comes along.
enum class CleanupMessage : char { kProcess = 'p', kDirectory = 'd', kGroup = 'g', kLock = 'l' };

/// The body of the process. Returns its exit status.
int run_cleanup();

}  // namespace muster::runtime
