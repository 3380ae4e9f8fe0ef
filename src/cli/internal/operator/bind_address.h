#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::cli {

/// Where the operator serves its own health and metrics, in the notation of its Go counterparts.
struct BindAddress {
    std::string address;  ///< an IP address; empty: all of the machine's
    std::uint16_t port = 0;

    friend bool operator==(const BindAddress&, const BindAddress&) = default;
};

/// ":8080", "127.0.0.1:8080", "[::1]:8080"; "0" or "" for nowhere, which is a BindAddress with port
/// 0. Nullopt for anything else.
std::optional<BindAddress> parse_bind_address(std::string_view text);

}  // namespace muster::cli
