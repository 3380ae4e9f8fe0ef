#include "cel/internal/time_zone.h"

#include "kube/schedule/time_zone.h"

namespace muster::cel {

std::optional<std::int64_t> offset_of_zone(std::string_view name, std::int64_t seconds) {
    const std::optional<kube::TimeZone> zone = kube::find_time_zone(name);
    if (!zone) return std::nullopt;
    return zone->offset(std::chrono::sys_seconds(std::chrono::seconds(seconds))).count();
}

}  // namespace muster::cel
