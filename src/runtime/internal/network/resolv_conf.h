#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::runtime {

/// The /etc/resolv.conf of pods, from the machine's own and from the one that its resolver on
/// loopback keeps (systemd's; empty where there is none). Pods resolve as the machine does: its
/// search domains and options hold. Names of jobs are in /etc/hosts in all their forms, so a
/// cluster's search domains and `ndots:5` would only send them to strangers, five questions a name.
///
/// Name servers on loopback can't be reached from pods: `forwarder` (an address, host byte order)
/// then stands for the first one.
struct ResolvConf {
    std::string text;
    bool forwarded = false;  ///< the forwarder is in it
};
ResolvConf resolv_conf_with_egress(std::string_view machine, std::string_view behind_loopback,
                                   std::uint32_t forwarder);

/// Without a way out: every question is refused at once by `refuser`, an address at which nothing
/// listens.
std::string resolv_conf_without_egress(std::uint32_t refuser);

}  // namespace muster::runtime
