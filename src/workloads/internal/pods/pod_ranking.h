#pragma once

#include <vector>

#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// Orders active pods so that those come first whose loss costs least: not scheduled, pending, not
/// ready, ready for a shorter time, restarted more often, younger.
void rank_for_removal(std::vector<PodPtr>& pods);

}  // namespace muster::workloads
