#pragma once

#include <cstddef>

#include "job_protocol/job_record.h"

namespace muster::master_process {

/// The record in at most so many bytes of its wire form. What is least needed goes first: the oldest
/// incidents but for the newest one, by which a master knows that it was charged; the ends of long
/// texts; the agents that were excluded first. Epoch, end, terms and sections always stay, so the
/// result may be larger if these are. Pure.
job_protocol::JobRecord within_bytes(job_protocol::JobRecord record, std::size_t most);

}  // namespace muster::master_process
