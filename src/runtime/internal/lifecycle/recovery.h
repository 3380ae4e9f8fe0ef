#pragma once

#include "runtime/internal/lifecycle/pod_status.h"

namespace muster::runtime {

/// Takes over what an earlier status of the pod says happened to it: ends, restarts, when it
/// began. What ran then is kRunning here, though nobody knows whether it still does.
void recall(PodFacts& facts, const kube::PodStatus& earlier);

}  // namespace muster::runtime
