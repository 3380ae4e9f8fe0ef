#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::kube {

/// Where an API server is.
struct ServerUrl {
    bool tls = true;
    std::string host;  ///< a name or an address, IPv6 without its brackets
    std::uint16_t port = 443;
    std::string path_prefix = {};  ///< "" or "/clusters/a", before every path of the API

    /// "https://[::1]:6443/clusters/a".
    std::string text() const;
    /// "host:port", for the Host field.
    std::string authority() const;

    friend bool operator==(const ServerUrl&, const ServerUrl&) = default;
};

struct HostPort {
    std::string host;  ///< not empty, IPv6 without its brackets
    std::optional<std::uint16_t> port;
};

/// "a", "a:1", "[::1]:1", as a URL has it. kInvalid says what is wrong.
Result<HostPort> parse_host_port(std::string_view text);

/// The `server` of a kubeconfig. Without a scheme it is https if `tls_is_meant`, as other TLS
/// settings show, else http. kInvalid says what is wrong.
Result<ServerUrl> parse_server_url(std::string_view text, bool tls_is_meant);

}  // namespace muster::kube
