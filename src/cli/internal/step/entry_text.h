#pragma once

#include <string_view>
#include <vector>

namespace muster::cli {

/// Without blanks around it.
std::string_view trimmed(std::string_view text);

/// The parts of `text` between any of `separators`, without the empty ones and without blanks around
/// them. They are views of `text`.
std::vector<std::string_view> entries_of(std::string_view text, std::string_view separators);

}  // namespace muster::cli
