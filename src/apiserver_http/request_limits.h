#pragma once

#include <cstddef>

namespace muster::apiserver_http {

/// How many requests may be served at the same time; 0: any number. Long-running ones (a watch, a
/// log, a connection to a pod) do not count, and members of system:masters are never refused.
struct RequestLimits {
    std::size_t read_only = 400;
    std::size_t mutating = 200;
};

}  // namespace muster::apiserver_http
