#pragma once

#include "runtime/internal/lifecycle/pod_status.h"
#include "runtime/internal/lifecycle/recovered_container.h"

namespace muster::runtime {

/// Takes over the history in an earlier status of the pod: ends, restarts, when it began.
/// Containers that ran then are kRunning here, though it is unknown whether they still do.
void recover_facts(PodFacts& facts, const kube::PodStatus& earlier);

/// How long the container of a record that was read from a status waits after its end before its
/// next start. Exact if it waits: the status says it. Otherwise it follows from how long it waited
/// before its last start, and from how often it was restarted.
Duration recovered_wait(const ContainerRecord& record);

/// Whether the record, which was read from a status, already reflects what the pod's init reports.
bool is_accounted_for(const ContainerRecord& record, const RecoveredContainer& recovered);

}  // namespace muster::runtime
