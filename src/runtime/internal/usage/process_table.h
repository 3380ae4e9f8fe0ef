#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/time/clock.h"

namespace muster::runtime {

/// The kernel's data about a process (/proc/PID/stat).
struct ProcessStat {
    pid_t parent = 0;
    /// In the kernel's ticks: its own, and those of children that it has waited for.
    std::uint64_t own_ticks = 0;
    std::uint64_t waited_ticks = 0;

    friend bool operator==(const ProcessStat&, const ProcessStat&) = default;
};

/// nullopt if it is not such a line.
std::optional<ProcessStat> parse_process_stat(std::string_view line);
/// Bytes that belong to the process or are shared with it, without files (/proc/PID/status).
std::int64_t parse_memory(std::string_view status);
/// Ticks in which any processor was busy (/proc/stat).
std::uint64_t parse_busy_ticks(std::string_view stat);
/// Bytes that are not available (/proc/meminfo).
std::int64_t parse_memory_in_use(std::string_view meminfo);

using ProcessTable = std::map<pid_t, ProcessStat>;

/// Every process of the machine. Reads a small file for each.
ProcessTable read_process_table();

struct TreeUsage {
    Duration cpu{};  ///< since its root began, including processes that have ended
    std::int64_t memory_bytes = 0;
};
/// Of a process and everything below it.
TreeUsage usage_of_tree(const ProcessTable& table, pid_t root);

Duration busy_time_of_machine();
std::int64_t memory_in_use_of_machine();

/// The process of a pidfd, as this process sees it; 0 if it has ended.
pid_t process_of(int pidfd);

}  // namespace muster::runtime
