#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::apiserver {

/// The IPv4 addresses that services get. Nothing routes them here; objects have them because clients
/// expect to see one.
struct ServiceRange {
    std::uint32_t base = (10u << 24) | (96u << 16);
    std::uint32_t size = 1u << 20;  ///< a power of two

    /// "10.0.0.0/24"; nullopt for anything else than an IPv4 network.
    static std::optional<ServiceRange> parse(std::string_view text);
    /// The address of the Service kubernetes.
    std::string first() const;
    bool contains(std::uint32_t address) const { return address - base < size; }

    friend bool operator==(const ServiceRange&, const ServiceRange&) = default;
};

/// "10.9.8.7" as a number, and the other way round.
std::optional<std::uint32_t> parse_ipv4(std::string_view text);
std::string ipv4_text(std::uint32_t address);

}  // namespace muster::apiserver
