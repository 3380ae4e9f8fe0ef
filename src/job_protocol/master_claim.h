#pragma once

#include <cstdint>

namespace muster::job_protocol {

/// What a master says of itself to another one of the same job.
struct MasterClaim {
    std::uint64_t epoch = 0;
    int nodes = 0;        ///< of its world; 0: it has none
    bool settled = true;  ///< it knows which agents there are, and the job continues

    friend bool operator==(const MasterClaim&, const MasterClaim&) = default;
};

}  // namespace muster::job_protocol
