#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::cel {

/// Seconds east of UTC that the clocks of a zone ("Europe/Paris") show at a moment; nullopt if the
/// machine does not know the zone. Reads a file of /usr/share/zoneinfo. Any thread.
std::optional<std::int64_t> offset_of_zone(std::string_view name, std::int64_t seconds);

}  // namespace muster::cel
