#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"

namespace muster::runtime {

/// What this node does with a field of a pod's spec.
enum class FieldTreatment : std::uint8_t {
    kHonoured,
    kRefused,     ///< a pod that has it is refused, by the field's name
    kNamed,       ///< it has no effect, and the event NotEnforced names it
    kJudged,      ///< honoured, refused or named: its value and this machine decide
    kDocumented,  ///< there is nothing here that it could act on; docs/single-machine.md says so
};

/// What all fields at that path get, and those below them: "containers[].ports[].hostPort". Nullopt
/// for a path that only leads to other fields, and for what the API refuses as unknown.
std::optional<FieldTreatment> treatment_of(std::string_view path);
/// All paths that have a treatment.
std::vector<std::string> treated_paths();

/// The sources of volumes that the node has not: "volumes[0].nfs",
/// "volumes[1].projected.sources[0].clusterTrustBundle".
std::vector<std::string> refused_volumes(const kube::PodSpec& spec);

/// The fields of this spec that have no effect, as a manifest names them: "spec.hostPID". Without
/// namespaces there are more of them.
std::vector<std::string> fields_without_effect(const kube::PodSpec& spec, bool namespaces);

}  // namespace muster::runtime
