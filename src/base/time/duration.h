#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace muster {

/// "90", "90s", "1h30m", "500ms"; nullopt for anything else.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace muster
