#pragma once

#include <cstdint>
#include <string_view>

namespace muster::pod_init {

/// A set of the kernel's capabilities, by the bits of their numbers.
using Capabilities = std::uint64_t;

/// Of "NET_ADMIN", "CAP_NET_ADMIN" in any case, or "ALL"; 0 for no such capability.
Capabilities capabilities_named(std::string_view name);

/// What a container has that asks for nothing: as containerd (upstream: pkg/oci, defaultUnixCaps).
Capabilities default_capabilities();

}  // namespace muster::pod_init
