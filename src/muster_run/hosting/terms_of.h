#pragma once

#include "job_protocol/terms.h"
#include "launch/plan.h"

namespace muster::run {

/// What a plan says that the whole job keeps to, as this node tells a master that was told nothing.
job_protocol::Terms terms_of(const launch::LaunchPlan& plan);

}  // namespace muster::run
