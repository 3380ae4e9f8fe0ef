#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "kube/values/json.h"

namespace muster::store {

/// Appends the JSON text of a value.
void append_json(std::string& text, const json::value& value);

}  // namespace muster::store
