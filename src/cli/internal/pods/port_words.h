#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::cli {

/// A port of this machine that leads to one of a pod.
struct ForwardedPort {
    std::uint16_t local = 0;  ///< 0: any that is free
    std::string remote;       ///< a number, or the name of a container's port
    bool same = false;        ///< the local one is the remote one, whose name alone was written

    friend bool operator==(const ForwardedPort&, const ForwardedPort&) = default;
};

/// "8080:80", "8080" for the same port on both sides, ":80" for any here; "8080:http" names the
/// port. Pure.
Result<ForwardedPort> parse_forwarded_port(const std::string& text);

}  // namespace muster::cli
