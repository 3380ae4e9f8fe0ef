#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::cel {

/// As Go writes it with %g: the fewest digits, "1e+06" from a million on.
std::string double_text(double number);
/// As Go's strconv.ParseFloat reads it.
std::optional<double> parse_double(std::string_view text);

}  // namespace muster::cel
