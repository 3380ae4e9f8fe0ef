#include "runtime/internal/pod_network.h"

#include <fcntl.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/neighbour.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

#include "runtime/internal/clone_stack.h"

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

struct RouterBirth {
    int socket = -1;
    int error = 0;
};

__attribute__((no_sanitize("address", "undefined"))) void set_kernel_value(const char* path,
                                                                           const char* digit) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!::write(file, digit, 1);
    ::close(file);
}

/// Runs in a new process and network namespace, with our memory and descriptors.
__attribute__((no_sanitize("address", "undefined"))) int open_router_socket(void* argument) {
    auto* birth = static_cast<RouterBirth*>(argument);
    birth->socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    birth->error = errno;
    // Refuse each packet to the outside, not one a second; and let nobody take the router for the
    // world because it answers a ping. Best effort: a container may have /proc/sys read-only.
    set_kernel_value("/proc/sys/net/ipv4/icmp_ratelimit", "0");
    set_kernel_value("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1");
    return 0;
}

}  // namespace

std::string format_address(std::uint32_t a) {
    return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 0xff, a >> 8 & 0xff, a & 0xff);
}

Result<PodFabric> PodFabric::create() {
    RouterBirth birth;
    CloneStack stack;
    if (stack.top() == nullptr) return system_error("mapping a stack", errno);
    // A child that shares our descriptors opens the socket in a namespace of its own and ends; the
    // socket keeps the namespace. (Going there ourselves and back again needs rights over the
    // machine's own namespace, which an ordinary user has not.)
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWNET | SIGCHLD;
    const pid_t child = ::clone(open_router_socket, stack.top(), flags, &birth);
    if (child < 0) return system_error("making a network namespace", errno);
    ::waitpid(child, nullptr, 0);
    if (birth.socket < 0)
        return system_error("opening a socket in a new network namespace", birth.error);
    TRY(NetlinkSocket socket, NetlinkSocket::adopt(UniqueFd(birth.socket)));

    NetlinkBatch batch;
    batch.message("taking the router's lo up", RTM_SETLINK, 0, link_header(kLoopbackIndex, true));
    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = 32;
    address.ifa_scope = RT_SCOPE_UNIVERSE;
    address.ifa_index = kLoopbackIndex;
    batch.message("address of the router", RTM_NEWADDR, kCreate, address);
    batch.address(IFA_LOCAL, kGateway);
    // Whatever is outside is refused at once, as the router takes all of it for itself and has
    // nothing that listens: packets that vanished would cost every DNS question five seconds, and a
    // route that says "unreachable" says so to a host but once a second.
    rtmsg outside{};
    outside.rtm_family = AF_INET;
    outside.rtm_table = RT_TABLE_MAIN;
    outside.rtm_protocol = RTPROT_STATIC;
    outside.rtm_scope = RT_SCOPE_HOST;
    outside.rtm_type = RTN_LOCAL;
    batch.message("route to the outside", RTM_NEWROUTE, kCreate, outside);
    batch.u32(RTA_OIF, kLoopbackIndex);
    TRY_VOID(socket.execute(batch));
    return PodFabric(std::move(socket));
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

Result<void> PodFabric::disconnect(const Link& link) {
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_dst_len = 32;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_scope = RT_SCOPE_NOWHERE;  // any
    NetlinkBatch batch;
    // Refused when the kernel was quicker.
    batch.optional_message("removing the route to a pod that has ended", RTM_DELROUTE, 0, route);
    batch.address(RTA_DST, link.pod.address);
    batch.u32(RTA_OIF, link.index);
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
