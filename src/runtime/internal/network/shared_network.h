#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// The right to run pods on the network that this process shares with the machine, for one `muster`
/// at a time. Within one, the scheduler keeps jobs with the same port apart; two of them know
/// nothing of each other, and a worker would silently join the other's master.
///
/// Held as long as the descriptor is open, so that it ends with the process in any case. It is an
/// abstract Unix socket: its name has the same scope as the network, and there is no file to leave
/// behind.
///
/// kUnavailable if another process has it.
Result<UniqueFd> claim_shared_network();

}  // namespace muster::runtime
