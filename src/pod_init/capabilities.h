#pragma once

#include <cstdint>
#include <string_view>

namespace muster::pod_init {

/// A set of the kernel's capabilities, by the bits of their numbers.
using Capabilities = std::uint64_t;

/// "NET_ADMIN", "CAP_NET_ADMIN" (in any case of letters), or "ALL"; 0 for an unknown capability.
Capabilities capabilities_named(std::string_view name);

/// What a container has by default, as in containerd (upstream: pkg/oci, defaultUnixCaps).
Capabilities default_capabilities();

}  // namespace muster::pod_init
