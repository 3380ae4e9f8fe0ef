#pragma once

#include "kube/client/client.h"
#include "kube/objects/resource_type.h"

namespace muster::workloads {

/// Writes the status that was decided from this state of the object, if it differs. False: it has to
/// be decided again. Only the status is sent: the object may be large.
Task<bool> write_status(kube::Client& client, kube::ResourceType type, kube::ObjectPtr object,
                        json::object status);

}  // namespace muster::workloads
