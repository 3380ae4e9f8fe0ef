#pragma once

namespace muster::runtime {

// What CleanupProcess and the process that it starts agree on.

/// By which the program knows what it is, and where it finds its socket.
inline constexpr const char* kCleanupArgument = "--muster-cleanup";
inline constexpr int kCleanupControlFd = 3;

/// The first byte of a message to it; the rest is a path, or a descriptor comes along.
enum class CleanupMessage : char { kProcess = 'p', kDirectory = 'd', kGroup = 'g', kLock = 'l' };

}  // namespace muster::runtime
