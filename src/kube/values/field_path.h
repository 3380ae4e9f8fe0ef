#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::kube {

// Field paths as Kubernetes writes them: `spec.containers[0].ports[1].containerPort`,
// `resources.limits[nvidia.com/gpu]`. All code that names a field makes its path here, so that the
// same field has the same path in every message and can be found again in a file.

/// The path of a member or a map entry. A key that would be ambiguous after a dot (it is empty or
/// has a character other than letters, digits, '-', '_' and '$') goes in brackets.
std::string child_path(std::string_view parent, std::string_view key);
/// The path of a list item.
std::string item_path(std::string_view parent, std::size_t index);

}  // namespace muster::kube
