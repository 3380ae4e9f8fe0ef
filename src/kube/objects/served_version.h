#pragma once

#include <string_view>

namespace muster::kube {

/// The Kubernetes whose API we speak, as clients are told by server and node alike.
inline constexpr std::string_view kServedVersion = "v1.33.0+muster";

}  // namespace muster::kube
