#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string_view>

#include "kube/values/json.h"

namespace muster::kube {

/// Deeper than the structure of any kind; the walks over values recurse.
inline constexpr std::size_t kDeepestJson = 200;

/// Reads JSON of the API that stands in a text of its own (an annotation). Nothing if it is not
/// well-formed or nested more deeply. Boost's own limit is 32 levels, which real kinds exceed.
std::optional<json::value> read_json(std::string_view text);

}  // namespace muster::kube
