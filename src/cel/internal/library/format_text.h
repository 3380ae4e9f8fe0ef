#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace muster::cel {

/// In quotes, with escape sequences of CEL.
std::string quoted_text(std::string_view text);
/// The literal of a string, bytes, a timestamp or a duration; nothing for other values.
std::optional<std::string> quoted_literal(const Value& value);

/// A text with its clauses (%s %d %f %e %b %x %X %o %%) filled in; the reason, if an argument is
/// missing or does not fit. Upstream: cel-go v0.23.2, ext/formatting.go, in its English locale.
std::expected<std::string, std::string> format_text(std::string_view format, const List& arguments);

}  // namespace muster::cel
