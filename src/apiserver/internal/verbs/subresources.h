#pragma once

#include <boost/json/value.hpp>

#include "apiserver/internal/writing/writer.h"
#include "apiserver/requests/router.h"
#include "base/time/clock.h"

namespace muster::apiserver {

// Decisions of the subresources that are not a part of the object itself. Pure.

/// The autoscaling/v1 Scale of a custom resource.
json::value scale_of(const ResourceDef& def, const json::object& object);
/// Carries the replicas of a written Scale over to the object.
StatusResult<NextState> decide_scale(const ResourceDef& def, const json::value& current,
                                     const json::value& scale, kube::Method method,
                                     const Ownership& ownership);
/// Applies a Scale to the object.
StatusResult<NextState> decide_applied_scale(const Target& target, const json::value& current,
                                             const json::value& scale, const WriteQuery& query,
                                             const Ownership& ownership);
/// The Scale after a PUT body or a patch.
StatusResult<json::value> proposed_scale(const ResourceDef& def, const json::value& current,
                                         kube::Method method, kube::ContentType type,
                                         const json::value& body);

/// Binds a pod to the node that a v1 Binding names.
StatusResult<NextState> decide_binding(const ResourceDef& def, const json::value& pod,
                                       const json::value& binding, WallTime now);

/// The deletion request that pods/NAME/eviction stands for.
StatusResult<kube::Request> deletion_of_eviction(const kube::Request& eviction,
                                                 std::string_view name);
/// Records on the pod that it is deleted because of its eviction.
StatusResult<NextState> decide_eviction(const ResourceDef& def, const json::value& pod,
                                        WallTime now);

/// Takes spec.finalizers of a namespace from the body.
StatusResult<NextState> decide_finalize(const ResourceDef& def, const json::value& current,
                                        const json::value& body);

}  // namespace muster::apiserver
