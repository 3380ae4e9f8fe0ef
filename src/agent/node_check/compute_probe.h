#pragma once

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::agent {

struct ComputeFigures {
    double flops = 0;         ///< a second, of one core, in single precision
    double memory_bytes = 0;  ///< a second, read and written, by one core
};

/// Multiplies small matrices and copies memory, each for `time` at least, and takes the best of
/// many short runs: what else the machine does disturbs some of them, and a slow processor or
/// memory all. Others run between them. kInternal: a result is not what it must be, so the node
/// can't be used. Not on a clock of virtual time, which does not pass meanwhile.
Task<Result<ComputeFigures>> measure_compute(Clock& clock,
                                             Duration time = std::chrono::milliseconds(150));

}  // namespace muster::agent
