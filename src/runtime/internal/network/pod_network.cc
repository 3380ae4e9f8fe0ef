#include "runtime/internal/network/pod_network.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "pod_init/netlink/route_messages.h"

namespace muster::runtime {

namespace {

/// Any other way to the outside is preferred.
constexpr std::uint32_t kOutsideMetric = 1000;
constexpr std::uint16_t kCreate = NLM_F_CREATE | NLM_F_EXCL;
/// The maximum of a veth, for packets as large as on loopback: with the usual 1,500 bytes a stream
/// between pods is half as fast.
constexpr std::uint32_t kMtu = 65535;

/// Locally administered, unique by the pod's address and the side.
std::string mac_of(std::uint32_t address, std::uint8_t side) {
    return {static_cast<char>(0x02),
            static_cast<char>(side),
            static_cast<char>(address >> 24 & 0xff),
            static_cast<char>(address >> 16 & 0xff),
            static_cast<char>(address >> 8 & 0xff),
            static_cast<char>(address & 0xff)};
}

/// The router's side of a pod's existing link: up, with the route to the pod.
void lead_to_pod(pod_init::NetlinkBatch& batch, std::uint32_t index, std::uint32_t address) {
    batch.message("taking the pod's link up", RTM_SETLINK, 0, pod_init::link_header(index, true));
    pod_init::forward_from(batch);
    pod_init::add_route(batch, "route to the pod", address, 32, index, 0, 0, NLM_F_REPLACE);
    pod_init::add_neighbour(batch, index, address, mac_of(address, 1));
}

}  // namespace

std::string format_address(std::uint32_t a) {
    return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 0xff, a >> 8 & 0xff, a & 0xff);
}

std::uint32_t parse_address(std::string_view text) {
    in_addr address{};
    if (::inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return 0;
    return ntohl(address.s_addr);
}

Result<PodFabric> PodFabric::in(NetworkNamespace network) {
    TRY(UniqueFd routes, network.open_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
    TRY(pod_init::NetlinkSocket socket, pod_init::NetlinkSocket::adopt(std::move(routes)));
    TRY(UniqueFd look_up, network.open_socket(AF_INET, SOCK_DGRAM, 0));
    return PodFabric(std::move(network), std::move(socket), std::move(look_up));
}

Result<PodFabric> PodFabric::adopt(UniqueFd network) {
    return in(NetworkNamespace::adopt(std::move(network)));
}

Result<PodFabric> PodFabric::create() {
    TRY(NetworkNamespace network, NetworkNamespace::create());
    TRY(PodFabric fabric, in(std::move(network)));

    pod_init::NetlinkBatch batch;
    batch.message("taking the router's lo up", RTM_SETLINK, 0,
                  pod_init::link_header(pod_init::kLoopbackIndex, true));
    pod_init::add_address(batch, "address of the router", pod_init::kLoopbackIndex, kGateway, 32);
    pod_init::take_in(batch, "route to the outside", 0, 0, kOutsideMetric);
    pod_init::take_in(batch, "route to pods that are not there", kRange, kRangePrefix, 0);
    TRY_VOID(fabric.socket_.execute(batch));
    return fabric;
}

bool PodFabric::is_taken(std::uint32_t index) const {
    ifreq request{};
    request.ifr_ifindex = static_cast<int>(index);
    return ::ioctl(look_up_.get(), SIOCGIFNAME, &request) == 0;
}

Result<PodFabric::Link> PodFabric::connect(pid_t init, std::uint32_t address) {
    // There may be links of an earlier process's pods.
    while (is_taken(next_index_)) ++next_index_;
    const std::uint32_t index = next_index_++;
    const std::string router_mac = mac_of(address, 0);
    const std::string pod_mac = mac_of(address, 1);

    pod_init::NetlinkBatch batch;
    batch.message("making a veth pair", RTM_NEWLINK, kCreate, pod_init::link_header(index));
    batch.text(IFLA_IFNAME, fmt::format("pod{}", index));
    batch.attribute(IFLA_ADDRESS, router_mac);
    batch.u32(IFLA_MTU, kMtu);
    std::size_t info = batch.begin_nest(IFLA_LINKINFO);
    batch.text(IFLA_INFO_KIND, "veth");
    std::size_t data = batch.begin_nest(IFLA_INFO_DATA);
    std::size_t peer = batch.begin_nest(VETH_INFO_PEER);
    batch.raw(pod_init::link_header(pod_init::PodLink::kIndex));
    batch.text(IFLA_IFNAME, "eth0");
    batch.attribute(IFLA_ADDRESS, pod_mac);
    batch.u32(IFLA_MTU, kMtu);
    batch.u32(IFLA_NET_NS_PID, static_cast<std::uint32_t>(init));
    batch.end_nest(peer);
    batch.end_nest(data);
    batch.end_nest(info);

    pod_init::without_link_local(batch, index);
    lead_to_pod(batch, index, address);
    TRY_VOID(socket_.execute(batch));

    Link link;
    link.index = index;
    link.pod = {
        .address = address, .gateway = kGateway, .prefix = kRangePrefix, .gateway_mac = router_mac};
    return link;
}

Result<void> PodFabric::settle(const Link& link) {
    pod_init::NetlinkBatch batch;
    batch.message("reading a pod's link", RTM_GETLINK, 0, pod_init::link_header(link.index));
    return socket_.execute(batch);
}

Result<void> PodFabric::cut_off(const Link& link) {
    pod_init::NetlinkBatch batch;
    // First, since the kernel drops the route to the pod with its link: then others would be
    // refused immediately, and notice.
    pod_init::swallow(batch, "swallowing what goes to the pod", link.pod.address);
    ifinfomsg down = pod_init::link_header(link.index);
    down.ifi_change = IFF_UP;
    batch.message("taking the pod's link down", RTM_SETLINK, 0, down);
    return socket_.execute(batch);
}

Result<void> PodFabric::reconnect(const Link& link) {
    pod_init::NetlinkBatch batch;
    lead_to_pod(batch, link.index, link.pod.address);
    TRY_VOID(socket_.execute(batch));
    return settle(link);
}

Result<UniqueFd> PodFabric::open_socket() const {
    return network_.open_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

Result<UniqueFd> PodFabric::open_listener(std::uint32_t at, std::uint16_t port) {
    if (at != kGateway) {
        pod_init::NetlinkBatch batch;
        pod_init::add_address(batch, "an address to listen on", pod_init::kLoopbackIndex, at, 32,
                              NLM_F_REPLACE);
        TRY_VOID(socket_.execute(batch));
    }
    TRY(UniqueFd listener, open_socket());
    // Connections to the process that listened there before may not be closed yet.
    const int reuse = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(at);
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 ||
        ::listen(listener.get(), SOMAXCONN) < 0)
        return system_error(
            fmt::format("listening on {}:{} in the pods' network", format_address(at), port),
            errno);
    return listener;
}

Result<void> PodFabric::disconnect(const Link& link) {
    pod_init::NetlinkBatch batch;
    pod_init::remove_route(batch, "removing the route to a pod that has ended", link.pod.address,
                           link.index);
    return socket_.execute(batch);
}

}  // namespace muster::runtime
