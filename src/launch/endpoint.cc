#include "launch/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/lower_case.h"
#include "base/parse_number.h"

namespace muster::launch {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_of(std::string_view host) {
    boost::system::error_code error;
    const ip::address address = ip::make_address(std::string(host), error);
    return error ? std::nullopt : std::optional(address);
}

bool is_host(std::string_view host) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    };
    return is_ipv6(host) || (!host.empty() && std::ranges::all_of(lower_case(host), allowed));
}

/// Whether other nodes may be able to reach the address.
bool is_for_others(std::string_view host) {
    const std::optional<ip::address> address = address_of(host);
    return address && !address->is_loopback() && !address->is_unspecified() &&
           !(address->is_v6() && address->to_v6().is_link_local()) &&
           !(address->is_v4() && (address->to_v4().to_uint() >> 16) == 0xa9fe);  // 169.254/16
}

std::string first_for_others(const std::vector<std::string>& addresses) {
    for (const bool v6 : {false, true})
        for (const std::string& address : addresses)
            if (is_for_others(address) && is_ipv6(address) == v6) return address;
    return {};
}

}  // namespace

std::string Endpoint::text() const {
    return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port) {
    Endpoint endpoint{std::string(text), default_port};
    std::string_view port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == text.npos) return std::nullopt;
        endpoint.host = text.substr(1, end - 1);
        if (!is_ipv6(endpoint.host)) return std::nullopt;
        port = text.substr(end + 1);
        if (!port.empty() && !port.starts_with(':')) return std::nullopt;
    } else if (!is_ipv6(text)) {
        endpoint.host = text.substr(0, text.find(':'));
        port = text.substr(endpoint.host.size());
    }
    if (!port.empty()) {
        const std::optional<std::uint16_t> number = parse_number<std::uint16_t>(port.substr(1));
        if (!number) return std::nullopt;
        endpoint.port = *number;
    }
    return is_host(endpoint.host) ? std::optional(std::move(endpoint)) : std::nullopt;
}

bool is_loopback(std::string_view host) {
    const std::optional<ip::address> address = address_of(host);
    return address ? address->is_loopback() : lower_case(host) == "localhost";
}

bool is_ipv6(std::string_view host) {
    const std::optional<ip::address> address = address_of(host);
    return address && address->is_v6();
}

bool is_this_node(std::string_view host, const std::vector<std::string>& looked_up,
                  const NodeNames& node) {
    const auto is_name = [&](const std::string& name) {
        return lower_case(name) == lower_case(host);
    };
    const auto is_address = [&](std::string_view text) {
        const std::optional<ip::address> address = address_of(text);
        return address && std::ranges::any_of(node.addresses, [&](const std::string& own) {
                   return address_of(own) == address;
               });
    };
    return is_loopback(host) || std::ranges::any_of(node.names, is_name) || is_address(host) ||
           std::ranges::any_of(looked_up, [&](const std::string& address) {
               return is_loopback(address) || is_address(address);
           });
}

std::string address_for_others(const AddressChoices& choices) {
    if (!choices.local_addr.empty()) return choices.local_addr;
    if (choices.one_machine) return "127.0.0.1";
    if (is_for_others(choices.pod_ip)) return choices.pod_ip;
    if (is_for_others(choices.towards_master)) return choices.towards_master;
    const std::string named = first_for_others(choices.of_name);
    return named.empty() ? first_for_others(choices.interfaces) : named;
}

}  // namespace muster::launch
