#pragma once

#include <string_view>

namespace muster::kube {

// What a job's controller writes on its pods for the node of a single machine, which has no other
// way to learn it.

/// How many pods of the job start together or not at all.
inline constexpr std::string_view kGangSizeAnnotation = "muster.dev/gang-size";
/// The restart of the whole group in which the pod was made; absent for the first run.
inline constexpr std::string_view kGenerationAnnotation = "muster.dev/generation";

/// A file that the pod's programs make if all goes well, and the event if the pod ended without it:
/// "VOLUME/FILE REASON MESSAGE", with the name of an emptyDir of the pod.
inline constexpr std::string_view kExpectedFileAnnotation = "muster.dev/expected-file";

}  // namespace muster::kube
