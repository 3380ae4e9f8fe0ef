#pragma once

#include <cstddef>

namespace muster::apiserver_http {

/// How many requests may be served at a time; 0: any number. What is meant to go on (a watch, a
/// log, a connection to a pod) does not count, and members of system:masters are never refused.
struct RequestLimits {
    std::size_t read_only = 400;
    std::size_t mutating = 200;
};

}  // namespace muster::apiserver_http
