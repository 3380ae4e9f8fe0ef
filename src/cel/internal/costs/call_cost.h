#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/value.h"

namespace muster::cel {

/// What a call costs beyond its arguments. `overload`: the one signature that the checker found, ""
/// if it found several. Upstream: cel-go v0.23.2, interpreter/runtimecost.go, and
/// k8s.io/apiserver v0.33, pkg/cel/library/cost.go.
std::uint64_t call_cost(std::string_view function, std::string_view overload,
                        std::span<const Value> arguments, const Value* result);

}  // namespace muster::cel
