#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// The right to run pods on the network that this process shares with the machine: one `muster` at
/// a time. Inside one, the scheduler keeps jobs of the same port apart; two of them know nothing of
/// each other, and a worker would join the other's master without a word.
///
/// Held as long as the descriptor is open, so that it ends with the process however that ends. An
/// abstract Unix socket: its names live as far as the network does, which is the scope that is
/// meant, and there is no file to be left behind.
///
/// kUnavailable when another process has it.
Result<UniqueFd> claim_shared_network();

}  // namespace muster::runtime
