#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pod_init/init_protocol.h"
#include "pod_init/netlink/rtnetlink.h"
#include "runtime/internal/network/network_namespace.h"

namespace muster::runtime {

std::string format_address(std::uint32_t host_order);
/// "10.0.0.1" as a number; 0 for a text that is not an IPv4 address.
std::uint32_t parse_address(std::string_view text);

/// The network of all pods: a network namespace of our own that routes between one veth for each
/// pod. Nothing of it is visible in the machine's own interfaces, routes or firewall, and all of it
/// disappears with the last process that holds it: this one, or the init of a pod that outlives us.
///
/// Routed /32 addresses rather than a bridge: a bridge is limited to 1,023 ports, and with fixed
/// MACs and permanent neighbour entries a first connection needs no ARP (otherwise the neighbour
/// table, shared by all namespaces, overflows near 500 pods).
class PodFabric {
  public:
    /// The range of the pods' addresses. The router that pods see has a link-local address, as no
    /// pod may have it.
    static constexpr std::uint32_t kRange = 0x0AF40000;  // 10.244.0.0/16
    static constexpr std::uint8_t kRangePrefix = 16;
    static constexpr std::uint32_t kGateway = 0xA9FE0101;  // 169.254.1.1

    /// Needs CAP_NET_ADMIN and CAP_SYS_ADMIN (in the process's user namespace).
    static Result<PodFabric> create();
    /// The network of a process that has ended, with the pods that are still connected to it.
    static Result<PodFabric> adopt(UniqueFd network);

    struct Link {
        std::uint32_t index = 0;
        pod_init::PodLink pod;  ///< for the pod's init
    };
    /// Makes the pod's veth with its end `eth0` in the network namespace of `init`.
    Result<Link> connect(pid_t init, std::uint32_t address);
    /// To be called once both ends are up: makes the kernel act on the new carrier state now;
    /// otherwise some first packets wait a second for a queue that does not exist yet.
    Result<void> settle(const Link& link);
    /// Frees the pod's address. The kernel does so too, some time after the last process of the pod
    /// has ended; the pod's successor does not wait for that.
    Result<void> disconnect(const Link& link);

    /// Nothing reaches the pod or leaves it until reconnect(); neither side is told.
    Result<void> cut_off(const Link& link);
    Result<void> reconnect(const Link& link);

    /// A TCP socket inside, not connected and non-blocking: connects from here to any pod, whose
    /// programs see the router as the peer.
    Result<UniqueFd> open_socket() const;
    /// Listens on an address that becomes one of the router's (`port` 0: the kernel picks one), so
    /// that pods can reach us. Non-blocking. Only pods can connect.
    Result<UniqueFd> open_listener(std::uint32_t at, std::uint16_t port);

    const NetworkNamespace& network() const { return network_; }
    /// The router's own tables.
    pod_init::NetlinkSocket& routes() { return socket_; }

  private:
    PodFabric(NetworkNamespace network, pod_init::NetlinkSocket socket, UniqueFd look_up)
        : network_(std::move(network)), socket_(std::move(socket)), look_up_(std::move(look_up)) {}

    static Result<PodFabric> in(NetworkNamespace network);
    bool is_taken(std::uint32_t index) const;

    NetworkNamespace network_;
    pod_init::NetlinkSocket socket_;
    UniqueFd look_up_;  ///< a socket inside, to query links
    std::uint32_t next_index_ = 10;
};

}  // namespace muster::runtime
