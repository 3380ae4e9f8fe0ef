#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// The defaults that a real server sets when a pod is written. Left out here: the not-ready
/// tolerations and the service account's token volume.
void set_pod_defaults(json::object& pod);
/// The same for a template of pods (`metadata`, `spec`), whose pods get the rest when they are
/// made.
void set_template_defaults(json::object& pod_template);
/// The status of a new pod.
void prepare_pod(json::object& pod, WallTime now);
/// Not schedulable because of spec.schedulingGates.
bool is_gated(const json::object& pod_spec);
/// Guaranteed, Burstable or BestEffort, from the requests and limits of cpu and memory.
std::string_view qos_class(const json::object& pod_spec);

}  // namespace muster::apiserver
