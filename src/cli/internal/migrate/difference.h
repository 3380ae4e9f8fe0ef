#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "jobs/kind.h"

namespace muster::cli {

/// What would happen to a job under this operator but not under its present one.
struct Difference {
    /// kNow: something happens to it as soon as the operators change. kThen: only if something else
    /// happens first.
    enum class When : std::uint8_t { kNow, kThen };
    When when = When::kThen;
    std::string field;  ///< of the job; empty: the whole
    std::string what;   ///< for people, with what to do

    friend bool operator==(const Difference&, const Difference&) = default;
};

/// The differences for one job as stored by a server. `batch_launcher`: an MPIJob of mpi-operator
/// has a batch/v1 Job that has not ended as its launcher. Pure.
std::vector<Difference> differences_of(const jobs::JobKind& kind, const json::value& object,
                                       bool batch_launcher, WallTime now);

}  // namespace muster::cli
