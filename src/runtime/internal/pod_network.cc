#include "runtime/internal/pod_network.h"

#include <fcntl.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/neighbour.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>

#include <array>
#include <cerrno>

namespace muster::runtime {

namespace {

constexpr std::uint32_t kLoopbackIndex = 1;
constexpr std::uint32_t kPodLinkIndex = 2;
constexpr std::uint16_t kCreate = NLM_F_CREATE | NLM_F_EXCL;

/// Locally administered, unique by the pod's address and the side.
std::string mac_of(std::uint32_t address, std::uint8_t side) {
    return {static_cast<char>(0x02),
            static_cast<char>(side),
            static_cast<char>(address >> 24 & 0xff),
            static_cast<char>(address >> 16 & 0xff),
            static_cast<char>(address >> 8 & 0xff),
            static_cast<char>(address & 0xff)};
}

ifinfomsg link_header(std::uint32_t index, bool up = false) {
    ifinfomsg header{};
    header.ifi_family = AF_UNSPEC;
    header.ifi_index = static_cast<int>(index);
    if (up) header.ifi_flags = header.ifi_change = IFF_UP;
    return header;
}

/// No IPv6 link-local address: its duplicate detection and router solicitations would wake an idle
/// machine for every pod. A kernel without IPv6 refuses this, and that is fine.
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
               std::uint32_t source) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = prefix;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_STATIC;
    route.rtm_scope = gateway != 0 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
    route.rtm_type = RTN_UNICAST;
    batch.message(std::move(label), RTM_NEWROUTE, kCreate, route);
    if (prefix > 0) batch.address(RTA_DST, destination);
    if (gateway != 0) batch.address(RTA_GATEWAY, gateway);
    if (source != 0) batch.address(RTA_PREFSRC, source);
    batch.u32(RTA_OIF, index);
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

}  // namespace

std::string format_address(std::uint32_t a) {
    return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 0xff, a >> 8 & 0xff, a & 0xff);
}

Result<PodFabric> PodFabric::create() {
    UniqueFd machine(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!machine) return system_error("opening /proc/self/ns/net", errno);
    // Only this thread moves, and only until the socket is open: the socket stays behind in the new
    // namespace and keeps it.
    if (::unshare(CLONE_NEWNET) < 0) return system_error("making a network namespace", errno);
    auto socket = NetlinkSocket::open();
    // Every question to the outside is to be answered, not one a second. Best effort: a container
    // may have /proc/sys read-only, and then some wait for their time-outs.
    if (UniqueFd limit(::open("/proc/sys/net/ipv4/icmp_ratelimit", O_WRONLY | O_CLOEXEC)); limit)
        (void)!::write(limit.get(), "0", 1);
    if (::setns(machine.get(), CLONE_NEWNET) < 0)
        return system_error("returning to the machine's network namespace", errno);
    if (!socket) return socket.error();

    // The router has an address and says "unreachable" about the world outside, at once: a packet
    // that silently vanished would cost every DNS question five seconds.
    NetlinkBatch batch;
    batch.message("taking the router's lo up", RTM_SETLINK, 0, link_header(kLoopbackIndex, true));
    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = 32;
    address.ifa_scope = RT_SCOPE_UNIVERSE;
    address.ifa_index = kLoopbackIndex;
    batch.message("address of the router", RTM_NEWADDR, kCreate, address);
    batch.address(IFA_LOCAL, kGateway);
    rtmsg outside{};
    outside.rtm_family = AF_INET;
    outside.rtm_table = RT_TABLE_MAIN;
    outside.rtm_protocol = RTPROT_STATIC;
    // "Prohibited" rather than "unreachable": datagram sockets take only the former as an error.
    outside.rtm_type = RTN_PROHIBIT;
    batch.message("route to the outside", RTM_NEWROUTE, kCreate, outside);
    TRY_VOID(socket->execute(batch));
    return PodFabric(*std::move(socket));
}

Result<PodFabric::Link> PodFabric::connect(pid_t init, std::uint32_t address) {
    const std::uint32_t index = next_index_++;
    const std::string router_mac = mac_of(address, 0);
    const std::string pod_mac = mac_of(address, 1);

    NetlinkBatch batch;
    batch.message("making a veth pair", RTM_NEWLINK, kCreate, link_header(index));
    batch.text(IFLA_IFNAME, fmt::format("pod{}", index));
    batch.attribute(IFLA_ADDRESS, router_mac);
    std::size_t info = batch.begin_nest(IFLA_LINKINFO);
    batch.text(IFLA_INFO_KIND, "veth");
    std::size_t data = batch.begin_nest(IFLA_INFO_DATA);
    std::size_t peer = batch.begin_nest(VETH_INFO_PEER);
    batch.raw(link_header(kPodLinkIndex));
    batch.text(IFLA_IFNAME, "eth0");
    batch.attribute(IFLA_ADDRESS, pod_mac);
    batch.u32(IFLA_NET_NS_PID, static_cast<std::uint32_t>(init));
    batch.end_nest(peer);
    batch.end_nest(data);
    batch.end_nest(info);

    without_link_local(batch, index);

    batch.message("taking the pod's link up", RTM_SETLINK, 0, link_header(index, true));
    std::size_t spec = batch.begin_nest(IFLA_AF_SPEC);
    std::size_t inet = batch.begin_nest(AF_INET);
    std::size_t conf = batch.begin_nest(IFLA_INET_CONF);
    batch.u32(IPV4_DEVCONF_FORWARDING, 1);
    batch.end_nest(conf);
    batch.end_nest(inet);
    batch.end_nest(spec);

    add_route(batch, "route to the pod", address, 32, index, 0, 0);
    add_neighbour(batch, index, address, pod_mac);
    TRY_VOID(socket_.execute(batch));

    Link link;
    link.index = index;
    link.pod = {
        .address = address, .gateway = kGateway, .prefix = kRangePrefix, .gateway_mac = router_mac};
    return link;
}

Result<void> PodFabric::settle(const Link& link) {
    NetlinkBatch batch;
    batch.message("reading a pod's link", RTM_GETLINK, 0, link_header(link.index));
    return socket_.execute(batch);
}

Result<void> configure_pod_link(const PodLink& link) {
    TRY(NetlinkSocket socket, NetlinkSocket::open());
    NetlinkBatch batch;
    batch.message("taking lo up", RTM_SETLINK, 0, link_header(kLoopbackIndex, true));
    without_link_local(batch, kPodLinkIndex);

    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = link.prefix;
    address.ifa_scope = RT_SCOPE_UNIVERSE;
    address.ifa_index = kPodLinkIndex;
    batch.message("address of eth0", RTM_NEWADDR, kCreate, address);
    batch.address(IFA_LOCAL, link.address);
    batch.address(IFA_ADDRESS, link.address);
    // Programs see a usual netmask, but no route to neighbours: all goes through the router.
    batch.u32(IFA_FLAGS, IFA_F_NOPREFIXROUTE);

    batch.message("taking eth0 up", RTM_SETLINK, 0, link_header(kPodLinkIndex, true));
    add_route(batch, "route to the router", link.gateway, 32, kPodLinkIndex, 0, link.address);
    add_route(batch, "default route", 0, 0, kPodLinkIndex, link.gateway, link.address);
    add_neighbour(batch, kPodLinkIndex, link.gateway, link.gateway_mac);
    batch.message("reading eth0", RTM_GETLINK, 0, link_header(kPodLinkIndex));
    return socket.execute(batch);
}

}  // namespace muster::runtime
