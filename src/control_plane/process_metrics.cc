#include "control_plane/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "apiserver_http/metric_family.h"
#include "base/fields.h"
#include "base/parse_number.h"
#include "manifest/read_files.h"

namespace muster::control_plane {

namespace {

constexpr auto kCounter = prometheus::MetricType::Counter;
constexpr auto kGauge = prometheus::MetricType::Gauge;

/// When the machine was booted, in seconds since 1970.
std::optional<std::uint64_t> boot_time() {
    const Result<std::string> stat = manifest::read_file("/proc/stat");
    if (!stat) return std::nullopt;
    const std::size_t at = stat->find("\nbtime ");
    if (at == stat->npos) return std::nullopt;
    return leading_number<std::uint64_t>(std::string_view(*stat).substr(at + 7));
}

std::optional<double> open_descriptors() {
    std::error_code error;
    double count = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
         at.increment(error))
        ++count;
    if (error) return std::nullopt;
    return count - 1;  // without the one that reads the directory
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
    const std::size_t name_end = line.rfind(") ");
    if (name_end == line.npos) return std::nullopt;
    line.remove_prefix(name_end + 2);
    // Fields are numbered from 1, and the third comes next.
    ProcessStat stat;
    for (int field = 3; field <= 24; ++field) {
        if (line.empty()) return std::nullopt;
        const std::string_view text = take_field(line, ' ');
        const bool wanted = field == 14 || field == 15 || field == 22 || field == 23 || field == 24;
        if (!wanted) continue;
        const std::optional<std::uint64_t> value = leading_number<std::uint64_t>(text);
        if (!value) return std::nullopt;
        if (field == 14 || field == 15) stat.cpu_ticks += *value;
        if (field == 22) stat.start_ticks = *value;
        if (field == 23) stat.virtual_bytes = *value;
        if (field == 24) stat.resident_pages = *value;
    }
    return stat;
}

std::vector<prometheus::MetricFamily> process_metrics() {
    using apiserver_http::family;
    std::vector<prometheus::MetricFamily> all;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const Result<std::string> line = manifest::read_file("/proc/self/stat");
    if (const auto stat = line ? parse_process_stat(*line) : std::nullopt) {
        all.push_back(family("process_cpu_seconds_total", "User and system CPU time, in seconds.",
                             kCounter, static_cast<double>(stat->cpu_ticks) / ticks));
        all.push_back(family("process_resident_memory_bytes", "Resident memory.", kGauge,
                             static_cast<double>(stat->resident_pages) *
                                 static_cast<double>(::sysconf(_SC_PAGESIZE))));
        all.push_back(family("process_virtual_memory_bytes", "Virtual memory.", kGauge,
                             static_cast<double>(stat->virtual_bytes)));
        if (const auto boot = boot_time())
            all.push_back(family(
                "process_start_time_seconds",
                "When the process was started, in seconds since 1970.", kGauge,
                static_cast<double>(*boot) + static_cast<double>(stat->start_ticks) / ticks));
    }
    if (const auto open = open_descriptors())
        all.push_back(family("process_open_fds", "Open file descriptors.", kGauge, *open));
    all.push_back(family("process_max_fds", "How many descriptors may be open.", kGauge,
                         static_cast<double>(most_descriptors())));
    return all;
}

std::size_t most_descriptors() {
    constexpr std::size_t kAnySystem = 1024;
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kAnySystem;
}

}  // namespace muster::control_plane
