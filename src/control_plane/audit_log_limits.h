#pragma once

#include <cstdint>

namespace muster::control_plane {

struct AuditLogLimits {
    std::uint64_t file_bytes = std::uint64_t{100} * 1024 * 1024;  ///< then the next one begins
    unsigned kept = 5;  ///< older files, FILE.1 the newest; 0: none
};

}  // namespace muster::control_plane
