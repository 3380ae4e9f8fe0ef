#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/time/clock.h"

namespace muster::runtime {

/// What the kernel tells of a process (/proc/PID/stat).
struct ProcessStat {
    pid_t parent = 0;
    /// In the kernel's ticks: its own, and of the children that it has waited for.
    std::uint64_t own_ticks = 0;
    std::uint64_t waited_ticks = 0;

    friend bool operator==(const ProcessStat&, const ProcessStat&) = default;
};

/// nullopt for what is no such line.
std::optional<ProcessStat> parse_process_stat(std::string_view line);
/// Bytes that are the process's or shared with it, but of no file (/proc/PID/status).
std::int64_t parse_memory(std::string_view status);
/// Ticks in which any processor was busy (/proc/stat).
std::uint64_t parse_busy_ticks(std::string_view stat);
/// Bytes that are not available (/proc/meminfo).
std::int64_t parse_memory_in_use(std::string_view meminfo);

using ProcessTable = std::map<pid_t, ProcessStat>;

/// Every process of the machine. Reads a small file for each.
ProcessTable read_process_table();

struct TreeUsage {
    Duration cpu{};  ///< since its root began, with those that are gone
    std::int64_t memory_bytes = 0;
};
/// Of a process and all below it.
TreeUsage usage_of_tree(const ProcessTable& table, pid_t root);

Duration busy_time_of_machine();
std::int64_t memory_in_use_of_machine();

/// The process that a pidfd is of, as this process sees it; 0 when it has ended.
pid_t process_of(int pidfd);

}  // namespace muster::runtime
