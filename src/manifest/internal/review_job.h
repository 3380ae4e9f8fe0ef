#pragma once

#include "jobs/kind.h"
#include "kube/values/json.h"

namespace muster::manifest {

/// What a manifest's job would be at the server: by the conventions of its version, in a namespace
/// ("default" unless it names one), and with a name where the server is to make one up. The names
/// of other objects hold both, some from the moment that defaults are set.
jobs::Review review_job(const jobs::JobKind& kind, const json::value& object,
                        const jobs::Platform& platform = {});

}  // namespace muster::manifest
