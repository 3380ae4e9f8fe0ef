#pragma once

#include <boost/json/value.hpp>
#include <cstddef>

#include "kube/values/json.h"

namespace muster::kube {

/// About the bytes of a value's text, and hardly more; counted no further than `limit`.
std::size_t text_size(const json::value& value, std::size_t limit);

}  // namespace muster::kube
