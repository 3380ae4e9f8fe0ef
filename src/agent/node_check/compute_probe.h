#pragma once

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::agent {

struct ComputeFigures {
    double flops = 0;         ///< per second, one core, single precision
    double memory_bytes = 0;  ///< per second, read plus written, one core
};

/// Multiplies small matrices and copies memory, each for at least `time`, and takes the best of
/// many short runs: other load on the machine disturbs only some of them, while a slow processor or
/// slow memory affects all. Other tasks run in between. kInternal: a result is wrong, so the node
/// can't be used. Does not work with virtual time, which stands still meanwhile.
Task<Result<ComputeFigures>> measure_compute(Clock& clock,
                                             Duration time = std::chrono::milliseconds(150));

}  // namespace muster::agent
