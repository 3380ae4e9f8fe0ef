#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::cli {

/// What to say about a line whose first word is a verb of another tool, or a file: which verb of ours
/// does that. nullopt: it is not known. Pure.
std::optional<std::string> advice_for_line(const std::vector<std::string>& words);

}  // namespace muster::cli
