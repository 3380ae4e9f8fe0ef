#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::runtime {

/// The /etc/resolv.conf of pods, from the machine's own and from the one that its resolver on
/// loopback keeps (systemd's; empty if there is none). Pods resolve names as the machine does: its
/// search domains and options apply. All forms of the names of jobs are in /etc/hosts, so a
/// cluster's search domains and `ndots:5` would only send them to foreign servers, five questions
/// for each name.
///
/// Pods can't reach name servers on loopback: `forwarder` (an address, host byte order) replaces
/// the first of these.
struct ResolvConf {
    std::string text;
    bool forwarded = false;  ///< it contains the forwarder
};
ResolvConf resolv_conf_with_egress(std::string_view machine, std::string_view behind_loopback,
                                   std::uint32_t forwarder);

/// Without egress: every question is refused immediately by `refuser`, an address on which nothing
/// listens.
std::string resolv_conf_without_egress(std::uint32_t refuser);

}  // namespace muster::runtime
