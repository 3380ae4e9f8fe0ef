#pragma once

#include <string_view>

namespace muster::kube {

// What the controller of a job writes on its pods for the node of a single machine, which has no
// other way to know it.

/// How many pods of the job start together or not at all.
inline constexpr std::string_view kGangSizeAnnotation = "muster.dev/gang-size";
/// The restart of the whole group that the pod was made in; absent for the first.
inline constexpr std::string_view kGenerationAnnotation = "muster.dev/generation";

}  // namespace muster::kube
