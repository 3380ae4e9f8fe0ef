#pragma once

namespace muster::runtime {

// The interface between CleanupProcess and the process that it starts.

/// Tells the program what it is, and where its socket is.
inline constexpr const char* kCleanupArgument = "--muster-cleanup";
inline constexpr int kCleanupControlFd = 3;

/// The first byte of a message to it; the rest is a path (of a directory, with a NUL and the name of
/// its marker), or a descriptor is passed along.
enum class CleanupMessage : char { kProcess = 'p', kDirectory = 'd', kGroup = 'g', kLock = 'l' };

}  // namespace muster::runtime
