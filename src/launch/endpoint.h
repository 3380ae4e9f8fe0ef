#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launch {

/// A host and a port to listen at. The host has no brackets, even if it is an IPv6 address.
struct Endpoint {
    std::string host;
    std::uint16_t port = 0;  ///< 0: any free port

    /// "node0:29400", "[fd00::1]:29400".
    std::string text() const;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Parses "HOST", "HOST:PORT", "[IPV6]", "[IPV6]:PORT", or an IPv6 address without port and
/// brackets. nullopt if it is none of these, or if no host can have that name. Like torch
/// (torch/distributed/elastic/rendezvous/utils.py), except that torch reads "::1" as a host ":"
/// with port 1.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port);

/// True for "localhost" and for addresses that no other machine can reach.
bool is_loopback(std::string_view host);
bool is_ipv6(std::string_view host);

/// The names and addresses of this node.
struct NodeNames {
    std::vector<std::string> names = {};      ///< host name, full name, pod name
    std::vector<std::string> addresses = {};  ///< of all its interfaces
};

/// Whether a host is this node: by its name or, if it has been looked up, by its addresses.
bool is_this_node(std::string_view host, const std::vector<std::string>& looked_up,
                  const NodeNames& node);

/// The candidates for the address at which other nodes reach this one.
struct AddressChoices {
    std::string local_addr = {};  ///< --local-addr
    bool one_machine = false;     ///< all nodes are on this machine: use 127.0.0.1
    std::string pod_ip = {};      ///< POD_IP
    /// the local address of a connection to the place where nodes meet
    std::string towards_master = {};
    std::vector<std::string> of_name = {};     ///< what its host name resolves to
    std::vector<std::string> interfaces = {};  ///< in the system's order
};

/// Picks the first address that others can use: the one given by a flag, the pod's, the one that
/// leads to the master, that of the host name, or an interface's; in the last two IPv4 before IPv6.
/// An address and not a name, so that nothing waits for DNS, unless --local-addr is a name. Empty
/// if there is none.
std::string address_for_others(const AddressChoices& choices);

}  // namespace muster::launch
