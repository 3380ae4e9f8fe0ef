#pragma once

#include <cstdint>
#include <string>

#include "cel/declaration.h"
#include "kube/schema/schema.h"

namespace muster::apiserver {

/// Bytes. What a request may have decides how long a part of an object can be, and how often it can
/// be there.
constexpr std::int64_t kLargestRequest = std::int64_t{3} * 1024 * 1024;

/// What CEL knows of a part of an object that has this schema; null if rules can't see it: it may be
/// anything. `root`: it is a whole object, of whose metadata rules see the name. Upstream:
/// k8s.io/apiserver v0.33, pkg/cel/common/schemas.go.
cel::DeclarationPtr declaration_of(const kube::Schema& schema, bool root, const std::string& name);

}  // namespace muster::apiserver
