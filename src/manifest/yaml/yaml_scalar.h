#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::manifest {

/// The value of an unquoted YAML scalar, as the YAML library of the Kubernetes tools reads it
/// (sigs.k8s.io/yaml, goyaml.v2/resolve.go). That is YAML 1.1 in its awkward parts: y, yes, on and
/// their capitalised forms are true; 010 is 8; 1_000 is 1000; 0b11 is 3. Times and dates stay
/// strings.
///
/// kInvalid for values that JSON can't hold: NaN, infinities, integers beyond 64 bits.
Result<json::value> resolve_plain(std::string_view text);

/// The value of a scalar with an explicit tag ("tag:yaml.org,2002:int"). kInvalid if the text is
/// not of that type, or the tag is not a core one.
Result<json::value> resolve_tagged(std::string_view tag, std::string_view text, bool quoted);

/// The string for a value that is the key of a map; kInvalid for null.
Result<std::string> key_from_value(const json::value& value);

}  // namespace muster::manifest
