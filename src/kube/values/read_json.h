#pragma once

#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string_view>

#include "kube/values/json.h"

namespace muster::kube {

/// Deeper than the structure of any kind; the walks over values recurse.
inline constexpr std::size_t kDeepestJson = 200;

/// How all JSON is parsed that comes from outside. Boost's own limit is 32 levels, which real kinds
/// exceed.
json::parse_options json_limits();

/// Reads JSON that stands in a text of its own: an annotation, a token, a record of ours. Nothing
/// if it is not well-formed or nested more deeply. It does not throw.
std::optional<json::value> read_json(std::string_view text);

}  // namespace muster::kube
