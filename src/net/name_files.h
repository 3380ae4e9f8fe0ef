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
    std::uint16_t port = 53;  ///< of its servers
    /// For one answer of one server; twice as long each time that all were asked in vain.
    std::chrono::milliseconds first_try = std::chrono::seconds(1);
    Duration patience = std::chrono::seconds(5);  ///< for all of it
};

/// The addresses of a host, those to be tried first in front, without the system's resolver: a
/// static program can't load its modules. /etc/hosts first, then the servers of resolv.conf with
/// its search domains and options (ndots, rotate), IPv4 and IPv6 at once, by UDP, and by TCP what
/// is too long for it. An address is its own.
///
/// kUnavailable when it has none or nobody tells in time. Blocks meanwhile. Any thread.
Result<std::vector<std::string>> addresses_by_files(const std::string& host,
                                                    const NameFiles& files = {});

}  // namespace muster::net
