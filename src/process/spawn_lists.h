#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace muster {

/// The attributes and file actions of a posix_spawn. The new program starts with no signal blocked
/// or ignored, whatever holds in this process. Owns the two lists.
struct SpawnLists {
    /// `more_flags`: in addition to those for signals, such as POSIX_SPAWN_SETSID.
    explicit SpawnLists(short more_flags);
    ~SpawnLists();
    SpawnLists(const SpawnLists&) = delete;
    SpawnLists& operator=(const SpawnLists&) = delete;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

/// A null-terminated array as arguments and environments are passed. Refers to `texts`.
std::vector<char*> spawn_pointers(const std::vector<std::string>& texts);

}  // namespace muster
