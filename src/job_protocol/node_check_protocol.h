#pragma once

#include <muster/node_check.pb.h>

#include "job_protocol/node_check.h"

namespace muster::job_protocol {

// To and from the wire. Figures that can't be (below zero, or no numbers) count as 0, and so as
// a link or a node that is as slow as can be.

job::Check to_wire(const Check& check);
Check from_wire(const job::Check& check);
job::CheckResult to_wire(const CheckResult& result);
CheckResult from_wire(const job::CheckResult& result);

}  // namespace muster::job_protocol
