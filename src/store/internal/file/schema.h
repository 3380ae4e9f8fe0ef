#pragma once

#include <span>

#include "store/internal/file/sqlite.h"

namespace muster::store {

/// The mark in the header of our files.
inline constexpr std::int64_t kApplicationId = 0x4d535452;  // "MSTR"

/// The steps from an empty file to the newest version; a file of version n has done the first n. A
/// released step never changes.
std::span<const char* const> schema_steps();

/// Migrates the file to the version that is the number of steps, in one transaction. Refuses a file
/// of a newer version, and one that is not ours.
Result<void> bring_up_to_date(Connection& connection, std::span<const char* const> steps);

}  // namespace muster::store
