#pragma once

#include <string>
#include <string_view>

namespace muster::kube {

// What label keys and values may look like. Each returns what is wrong, or "" when nothing is.

/// `[prefix/]name`: the prefix a DNS subdomain of up to 253 characters, the name up to 63. Also the
/// rule for annotation keys.
std::string label_key_problem(std::string_view key);
/// Empty, or up to 63 characters as in a key's name.
std::string label_value_problem(std::string_view value);

}  // namespace muster::kube
