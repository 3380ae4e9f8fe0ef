#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "jobs/kind.h"

namespace muster::cli {

/// What a job would meet with under this operator that it does not under the one it has.
struct Difference {
    /// kNow: something happens to it as soon as the operators change. kThen: if something else
    /// happens first.
    enum class When : std::uint8_t { kNow, kThen };
    When when = When::kThen;
    std::string field;  ///< of the job; empty: the whole
    std::string what;   ///< for a person, with what to do

    friend bool operator==(const Difference&, const Difference&) = default;
};

/// Of one job as a server has it. `batch_launcher`: an MPIJob of mpi-operator has its launcher as a
/// batch/v1 Job that has not ended. Pure.
std::vector<Difference> differences_of(const jobs::JobKind& kind, const json::value& object,
                                       bool batch_launcher, WallTime now);

}  // namespace muster::cli
