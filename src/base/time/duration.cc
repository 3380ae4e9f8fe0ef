#include "base/time/duration.h"

#include <charconv>
#include <cstdint>

namespace muster {

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    constexpr double kMax = 1e9;  // seconds: 31 years
    double seconds = 0;
    if (text.empty()) return std::nullopt;
    bool bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
    while (!text.empty()) {
        double number = 0;
        auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number,
                                             std::chars_format::fixed);
        if (error != std::errc() || number < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
        std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
        text.remove_prefix(unit.size());
        double factor = 0;
        if (unit == "s" || (bare && unit.empty())) factor = 1;
        if (unit == "ms") factor = 1e-3;
        if (unit == "m") factor = 60;
        if (unit == "h") factor = 3600;
        if (factor == 0) return std::nullopt;
        seconds += number * factor;
    }
    if (!(seconds > 0) || seconds > kMax) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace muster
