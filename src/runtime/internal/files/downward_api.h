#pragma once

#include <string>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/internal/files/environment_input.h"

namespace muster::runtime {

/// The value of a fieldRef in an environment variable.
Result<std::string> field_value(const std::string& path, const EnvironmentInput& input);

/// The same in a volume, where labels and annotations are also available as a whole: sorted lines
/// `key="value"` (upstream: pkg/fieldpath).
Result<std::string> volume_field_value(const std::string& path, const EnvironmentInput& input);

/// The value of a resourceFieldRef, divided by its divisor and rounded up. `container` is used if
/// the selector names none; null in a volume, where it must name one.
Result<std::string> resource_value(const kube::Container* container,
                                   const kube::ResourceFieldSelector& selector,
                                   const EnvironmentInput& input);

}  // namespace muster::runtime
