#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::control_plane {

/// What /proc/PID/stat says of a process.
struct ProcessStat {
    std::uint64_t cpu_ticks = 0;    ///< user and system
    std::uint64_t start_ticks = 0;  ///< since the machine's boot
    std::uint64_t virtual_bytes = 0;
    std::uint64_t resident_pages = 0;
};

/// Nullopt for what is no such line. The name in it may hold anything.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// This process as Prometheus' clients describe theirs: process_cpu_seconds_total and so on. What
/// can't be read is left out.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace muster::control_plane
