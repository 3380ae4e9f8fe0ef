#pragma once

#include "runtime/internal/lifecycle/pod_status.h"
#include "runtime/internal/lifecycle/recovered_container.h"

namespace muster::runtime {

/// Takes over what an earlier status of the pod says happened to it: ends, restarts, when it
/// began. What ran then is kRunning here, though nothing says whether it still does.
void recover_facts(PodFacts& facts, const kube::PodStatus& earlier);

/// The record, which was read from a status, already tells what the pod's init does.
bool is_accounted_for(const ContainerRecord& record, const RecoveredContainer& recovered);

}  // namespace muster::runtime
