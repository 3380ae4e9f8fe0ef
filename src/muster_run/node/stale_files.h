#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::run {

/// How long a killed agent's directory with the record of a master stays for the agent's successor:
/// as long as a job waits for its nodes if no flag says otherwise.
inline constexpr Duration kRecordStays = std::chrono::minutes(10);
/// How long error files stay that the report of a job has named.
inline constexpr Duration kErrorFilesStay = std::chrono::days(7);

/// Removes from `temporary` what agents of this user left there: the directories of jobs of which
/// neither an agent nor a worker lives, and old directories of error files. Only those that have the
/// name and the marker which agents give them; of the jobs' also those that are still empty. Returns
/// what it removed. Blocks.
Result<std::vector<std::string>> remove_stale_files(const std::filesystem::path& temporary,
                                                    WallTime now);

}  // namespace muster::run
