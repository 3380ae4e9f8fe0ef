#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "kube/values/json.h"

namespace muster::kube {

/// A value for messages; long ones are cut at the start of a character.
std::string value_text(const json::value& value);
std::size_t code_points(std::string_view text);

}  // namespace muster::kube
