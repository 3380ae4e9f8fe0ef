#pragma once

#include <string_view>

namespace muster::jobs {

// Annotations of an MPIJob about its shell. Additions of ours.

/// "addresses" puts pod IPs into the hostfile, where names can't be resolved.
inline constexpr std::string_view kHostfileAnnotation = "muster.dev/hostfile";
inline constexpr std::string_view kHostfileAddresses = "addresses";
/// The image of an init container that puts kubectl into the launcher, for images without it.
inline constexpr std::string_view kDeliveryAnnotation = "muster.dev/kubectl-delivery";

/// Overrides how the launcher reaches its workers: "rsh" (ours), "ssh" (v2beta1) or "kubexec" (v1).
inline constexpr std::string_view kShellAnnotation = "muster.dev/remote-shell";
inline constexpr std::string_view kShellOurs = "rsh";
inline constexpr std::string_view kShellSsh = "ssh";
inline constexpr std::string_view kShellKubectl = "kubexec";
/// The port of our remote shell, where pods share their nodes' ports.
inline constexpr std::string_view kPortAnnotation = "muster.dev/rsh-port";

}  // namespace muster::jobs
