#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

/// The text without the escapes of a URL (%2F); with `plus_is_blank`, as in a query, '+' is a blank.
/// Nullopt for a broken escape.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace muster::net
