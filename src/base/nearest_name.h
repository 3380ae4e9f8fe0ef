#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The candidate at the smallest edit distance, if it is near enough to be what was meant; else "".
/// Names that differ in case and separators alone are nearest of all.
std::string nearest_name(std::string_view unknown, const std::vector<std::string>& candidates);

}  // namespace muster
