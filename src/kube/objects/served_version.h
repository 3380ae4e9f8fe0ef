#pragma once

#include <string_view>

namespace muster::kube {

/// The Kubernetes version whose API we speak, as server and node report it to clients.
inline constexpr std::string_view kServedVersion = "v1.33.0+muster";

}  // namespace muster::kube
