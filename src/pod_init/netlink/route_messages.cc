#include "pod_init/netlink/route_messages.h"

#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <sys/socket.h>

namespace muster::pod_init {

ifinfomsg link_header(std::uint32_t index, bool up) {
    ifinfomsg header{};
    header.ifi_family = AF_UNSPEC;
    header.ifi_index = static_cast<int>(index);
    if (up) header.ifi_flags = header.ifi_change = IFF_UP;
    return header;
}

void without_link_local(NetlinkBatch& batch, std::uint32_t index) {
    batch.optional_message("no IPv6 link-local address", RTM_SETLINK, 0, link_header(index));
    std::size_t spec = batch.begin_nest(IFLA_AF_SPEC);
    std::size_t inet6 = batch.begin_nest(AF_INET6);
    batch.u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
    batch.end_nest(inet6);
    batch.end_nest(spec);
}

void add_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
               std::uint8_t prefix, std::uint32_t index, std::uint32_t gateway,
               std::uint32_t source, std::uint16_t existing) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = prefix;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_STATIC;
    route.rtm_scope = gateway != 0 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
    route.rtm_type = RTN_UNICAST;
    batch.message(std::move(label), RTM_NEWROUTE,
                  static_cast<std::uint16_t>(NLM_F_CREATE | existing), route);
    if (prefix > 0) batch.address(RTA_DST, destination);
    if (gateway != 0) batch.address(RTA_GATEWAY, gateway);
    if (source != 0) batch.address(RTA_PREFSRC, source);
    batch.u32(RTA_OIF, index);
}

void remove_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
                  std::uint32_t index) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = 32;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_scope = RT_SCOPE_NOWHERE;  // any
    batch.optional_message(std::move(label), RTM_DELROUTE, 0, route);
    batch.address(RTA_DST, destination);
    batch.u32(RTA_OIF, index);
}

void swallow(NetlinkBatch& batch, std::string label, std::uint32_t destination) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = 32;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_STATIC;
    route.rtm_scope = RT_SCOPE_UNIVERSE;
    route.rtm_type = RTN_BLACKHOLE;
    batch.message(std::move(label), RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
    batch.address(RTA_DST, destination);
}

void add_neighbour(NetlinkBatch& batch, std::uint32_t index, std::uint32_t address,
                   const std::string& mac) {
    ndmsg neighbour{};
    neighbour.ndm_family = AF_INET;
    neighbour.ndm_ifindex = static_cast<int>(index);
    neighbour.ndm_state = NUD_PERMANENT;
    batch.message("neighbour entry", RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, neighbour);
    batch.address(NDA_DST, address);
    batch.attribute(NDA_LLADDR, mac);
}

void forward_from(NetlinkBatch& batch) {
    std::size_t spec = batch.begin_nest(IFLA_AF_SPEC);
    std::size_t inet = batch.begin_nest(AF_INET);
    std::size_t conf = batch.begin_nest(IFLA_INET_CONF);
    batch.u32(IPV4_DEVCONF_FORWARDING, 1);
    batch.end_nest(conf);
    batch.end_nest(inet);
    batch.end_nest(spec);
}

void add_address(NetlinkBatch& batch, std::string label, std::uint32_t index, std::uint32_t local,
                 std::uint8_t prefix, std::uint16_t existing) {
    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = prefix;
    address.ifa_scope = RT_SCOPE_UNIVERSE;
    address.ifa_index = index;
    batch.message(std::move(label), RTM_NEWADDR,
                  static_cast<std::uint16_t>(NLM_F_CREATE | existing), address);
    batch.address(IFA_LOCAL, local);
    batch.address(IFA_ADDRESS, local);
    // Programs see a usual netmask, but no route comes with it.
    batch.u32(IFA_FLAGS, IFA_F_NOPREFIXROUTE);
}

void take_in(NetlinkBatch& batch, std::string label, std::uint32_t destination, std::uint8_t prefix,
             std::uint32_t metric) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = prefix;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_STATIC;
    route.rtm_scope = RT_SCOPE_HOST;
    route.rtm_type = RTN_LOCAL;
    batch.message(std::move(label), RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);
    if (prefix > 0) batch.address(RTA_DST, destination);
    batch.u32(RTA_OIF, kLoopbackIndex);
    if (metric > 0) batch.u32(RTA_PRIORITY, metric);
}

}  // namespace muster::pod_init
