#include "pod_init/internal/pod_link.h"

#include "pod_init/netlink/route_messages.h"

namespace muster::pod_init {

Result<void> configure_pod_link(const PodLink& link) {
    TRY(NetlinkSocket socket, NetlinkSocket::open());
    NetlinkBatch batch;
    batch.message("taking lo up", RTM_SETLINK, 0, link_header(kLoopbackIndex, true));
    without_link_local(batch, PodLink::kIndex);

    add_address(batch, "address of eth0", PodLink::kIndex, link.address, link.prefix);
    batch.message("taking eth0 up", RTM_SETLINK, 0, link_header(PodLink::kIndex, true));
    add_route(batch, "route to the router", link.gateway, 32, PodLink::kIndex, 0, link.address);
    add_route(batch, "default route", 0, 0, PodLink::kIndex, link.gateway, link.address);
    add_neighbour(batch, PodLink::kIndex, link.gateway, link.gateway_mac);
    batch.message("reading eth0", RTM_GETLINK, 0, link_header(PodLink::kIndex));
    return socket.execute(batch);
}

}  // namespace muster::pod_init
