#pragma once

#include <cstdint>
#include <memory>

#include "agent/node_check/node_check.h"
#include "base/result.h"
#include "base/time/clock.h"

namespace muster::run {

/// The node check of this machine, and its port for the probes of others. A probe carries nothing
/// of a program, and goes without TLS; whom it is from is known by a secret that the master tells
/// the agents of one check, over TLS where there is one.
struct NodeCheckHere {
    std::unique_ptr<agent::NodeCheck> node = {};
    std::uint16_t port = 0;

    /// At any port that is free; `alone`: of 127.0.0.1, for a job of one machine.
    static Result<NodeCheckHere> open(const asio::any_io_executor& executor, Clock& clock,
                                      bool alone);
};

}  // namespace muster::run
