#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// The value of a variable in a list of "NAME=VALUE", or "".
std::string variable_of(const std::vector<std::string>& environment, std::string_view name);

/// Replaces all variables of that name: if there were two, programs would disagree which counts.
void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value);

}  // namespace muster::kube
