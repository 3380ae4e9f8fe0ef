#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::cel {

// What is wrong with a name; nothing, if it is right. The words are those of Kubernetes
// (k8s.io/apimachinery v0.33, pkg/util/validation): rules show them.

std::vector<std::string> dns1123_label_problems(std::string_view text);
std::vector<std::string> dns1123_subdomain_problems(std::string_view text);
std::vector<std::string> dns1035_label_problems(std::string_view text);
std::vector<std::string> qualified_name_problems(std::string_view text);
std::vector<std::string> label_value_problems(std::string_view text);

/// What is left of a name in front of something random when its last '-' is taken for a letter. Upstream takes the
/// character before it away, too (pkg/api/validation, maskTrailingDash).
std::string without_trailing_dash(std::string_view prefix);

}  // namespace muster::cel
