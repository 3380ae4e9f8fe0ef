#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace muster {

/// What posix_spawn is told of a new program. Which signals are blocked or ignored here is not its
/// business. Owns the two lists.
struct SpawnLists {
    /// `more_flags`: beside those of signals, such as POSIX_SPAWN_SETSID.
    explicit SpawnLists(short more_flags);
    ~SpawnLists();
    SpawnLists(const SpawnLists&) = delete;
    SpawnLists& operator=(const SpawnLists&) = delete;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

/// As arguments and environments are passed: ended by a null. Refers to `texts`.
std::vector<char*> spawn_pointers(const std::vector<std::string>& texts);

}  // namespace muster
