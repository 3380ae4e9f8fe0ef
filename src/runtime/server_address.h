#pragma once

#include <cstdint>
#include <string>

namespace muster::runtime {

/// Where a program finds the API.
struct ServerAddress {
    std::string host;
    std::uint16_t port = 0;
};

}  // namespace muster::runtime
