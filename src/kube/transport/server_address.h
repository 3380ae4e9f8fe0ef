#pragma once

#include <cstdint>
#include <string_view>

namespace muster::kube {

/// Where pods find the API server if they have a network of their own: the address and port of the
/// Service `kubernetes`.
inline constexpr std::string_view kServerServiceHost = "10.96.0.1";
inline constexpr std::uint16_t kServerServicePort = 443;

/// Where containers find the token of their service account, the server's CA and their namespace.
inline constexpr std::string_view kAccountDirectory =
    "/var/run/secrets/kubernetes.io/serviceaccount";
/// Prefix of the names of volumes that are mounted there without having been requested.
inline constexpr std::string_view kAccountVolumePrefix = "kube-api-access-";

}  // namespace muster::kube
