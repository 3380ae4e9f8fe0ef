#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/tls/certificates.h"

namespace muster::control_plane {

/// Where a server listens.
struct ListenAddress {
    std::string address = "127.0.0.1";
    std::uint16_t port = 6443;

    bool loopback() const;
    /// Whether it means all addresses of the machine.
    bool wildcard() const;
    /// The URL for clients on this machine: "https://127.0.0.1:6443".
    std::string url(std::uint16_t bound_port) const;

    friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// "127.0.0.1", "127.0.0.1:7443", ":0", "[::1]:6443"; nullopt for anything else. Names are not
/// accepted: a certificate and a listener need the address.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// The names under which clients may reach it: those of loopback and of the service `kubernetes`,
/// `address` itself, and, if it means all addresses, `machine` (of the interfaces) and the
/// machine's name.
net::ServerNames server_names(const ListenAddress& address, const net::ServerNames& machine);

/// The addresses of this machine's interfaces and its host name.
net::ServerNames machine_names();

}  // namespace muster::control_plane
