#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/byte_stream.h"
#include "runtime/internal/network/network_namespace.h"

namespace muster::runtime {

/// Where a port of a pod can be reached.
struct PodPort {
    std::optional<NetworkNamespace> network;  ///< unset: the machine's
    std::vector<std::string> addresses;       ///< in the order in which they are tried
    std::uint16_t number = 0;
};

/// kUnavailable if nothing listens there; the error is that of the first address.
Task<Result<std::unique_ptr<net::ByteStream>>> connect_port(asio::any_io_executor executor,
                                                            PodPort port);

}  // namespace muster::runtime
