#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::net {

/// Where names are looked up, and for how long.
struct NameFiles {
    std::string resolv_conf = "/etc/resolv.conf";
    std::uint16_t port = 53;  ///< of the name servers
    /// For one answer of one server; doubled each time that all servers were asked in vain.
    std::chrono::milliseconds first_try = std::chrono::seconds(1);
    Duration patience = std::chrono::seconds(5);  ///< for everything together
};

/// The addresses of a host, best first, without the system's resolver, whose modules a static
/// program can't load. Reads /etc/hosts first, then asks the servers of resolv.conf with its search
/// domains and options (ndots, rotate), for IPv4 and IPv6 at the same time, by UDP, and by TCP if
/// an answer is too long for it. An IP address is its own result.
///
/// kUnavailable if the host has no address or no server answers in time. Blocks until then. Any
/// thread.
Result<std::vector<std::string>> addresses_by_files(const std::string& host,
                                                    const NameFiles& files = {});

}  // namespace muster::net
