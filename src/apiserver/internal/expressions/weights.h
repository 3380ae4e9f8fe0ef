#pragma once

#include <cstddef>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// How much work for the loop a step of a write is, as compute_beside() asks for it. `bytes`: of JSON.

/// Of a comparison with the schema: patterns may take longer than their object is long.
std::size_t schema_weight(const ResourceDef& def, std::size_t bytes);
/// Of all checks: rules may take longer, too, and so does compiling those of a definition or a
/// policy.
std::size_t check_weight(const ResourceDef& def, std::size_t bytes);

}  // namespace muster::apiserver
