#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "kube/values/json.h"

namespace muster::manifest {

/// Block-style YAML that read_manifest() reads back as the same value.
std::string to_yaml(const json::value& value);

/// Indented JSON, with keys in their order.
std::string to_pretty_json(const json::value& value);

}  // namespace muster::manifest
