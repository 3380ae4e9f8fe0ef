#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The candidate with the smallest edit distance if it is near enough to be what was meant; else
/// "". Names that differ only in case and separators are nearest.
std::string nearest_name(std::string_view unknown, const std::vector<std::string>& candidates);

}  // namespace muster
