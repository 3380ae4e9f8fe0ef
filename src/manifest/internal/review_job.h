#pragma once

#include "jobs/kind.h"
#include "kube/values/json.h"

namespace muster::manifest {

/// A manifest's job as the server would see it: by the conventions of its version, in a namespace
/// ("default" unless it has one), and with a name if the server is to generate one. The names of
/// other objects contain both, some as soon as defaults are set.
jobs::Review review_job(const jobs::JobKind& kind, const json::value& object,
                        const jobs::Platform& platform = {});

}  // namespace muster::manifest
