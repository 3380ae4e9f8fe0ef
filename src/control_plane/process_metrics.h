#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::control_plane {

/// The content of /proc/PID/stat.
struct ProcessStat {
    std::uint64_t cpu_ticks = 0;    ///< user and system
    std::uint64_t start_ticks = 0;  ///< since the machine's boot
    std::uint64_t virtual_bytes = 0;
    std::uint64_t resident_pages = 0;
};

/// How many descriptors this process may have open.
std::size_t most_descriptors();

/// Nullopt if it is not such a line. The name in it may contain anything.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Metrics of this process as Prometheus' clients name theirs: process_cpu_seconds_total and so on.
/// Values that can't be read are left out.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace muster::control_plane
