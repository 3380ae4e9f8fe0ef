#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launch {

/// Where somebody listens. The host without brackets, also of IPv6.
struct Endpoint {
    std::string host;
    std::uint16_t port = 0;  ///< 0: any that is free

    /// "node0:29400", "[fd00::1]:29400".
    std::string text() const;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// "HOST", "HOST:PORT", "[IPV6]", "[IPV6]:PORT", and an IPv6 address without port and brackets.
/// Nullopt: it is none of these, or no host can have that name. As torch reads one
/// (torch/distributed/elastic/rendezvous/utils.py), but that it takes "::1" for a host ":" with
/// port 1.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port);

/// "localhost" and addresses that no other machine reaches.
bool is_loopback(std::string_view host);
bool is_ipv6(std::string_view host);

/// What a node is known by.
struct NodeNames {
    std::vector<std::string> names = {};      ///< host name, full name, a pod's
    std::vector<std::string> addresses = {};  ///< of all its interfaces
};

/// Whether a host is this node: by its name or, if somebody has looked that up, by its addresses.
bool is_this_node(std::string_view host, const std::vector<std::string>& looked_up,
                  const NodeNames& node);

/// What this node's address for others may be.
struct AddressChoices {
    std::string local_addr = {};               ///< --local-addr
    bool one_machine = false;                  ///< all nodes are on this one: then 127.0.0.1
    std::string pod_ip = {};                   ///< POD_IP
    std::string towards_master = {};           ///< by which it reaches the place where nodes meet
    std::vector<std::string> of_name = {};     ///< what its host name stands for
    std::vector<std::string> interfaces = {};  ///< in the system's order
};

/// The first that others can use: what somebody said, the pod's, the one that leads to the others,
/// that of the host name, an interface's; IPv4 before IPv6 in the last two. An address and no name,
/// so that nobody waits for DNS, unless --local-addr is one. Empty: there is none.
std::string address_for_others(const AddressChoices& choices);

}  // namespace muster::launch
