#include "control_plane/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/parse_number.h"
#include "kube/transport/server_address.h"

namespace muster::control_plane {

namespace {

bool is_v4(const std::string& text) {
    in_addr address{};
    return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_v6(const std::string& text) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

void add(std::vector<std::string>& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::string text_of(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (address.sa_family == AF_INET)
        bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    else if (address.sa_family == AF_INET6)
        bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (bytes == nullptr ||
        ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

}  // namespace

bool ListenAddress::loopback() const { return address.starts_with("127.") || address == "::1"; }

bool ListenAddress::wildcard() const { return address == "0.0.0.0" || address == "::"; }

std::string ListenAddress::url(std::uint16_t bound_port) const {
    const std::string host = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
    return is_v6(host) ? fmt::format("https://[{}]:{}", host, bound_port)
                       : fmt::format("https://{}:{}", host, bound_port);
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
    ListenAddress parsed;
    std::string_view host = text;
    std::optional<std::string_view> port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == text.npos) return std::nullopt;
        host = text.substr(1, end - 1);
        const std::string_view rest = text.substr(end + 1);
        if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
        if (!rest.empty()) port = rest.substr(1);
    } else if (std::ranges::count(text, ':') == 1) {
        host = text.substr(0, text.find(':'));
        port = text.substr(text.find(':') + 1);
    }
    if (!host.empty()) parsed.address = host;
    if (!is_v4(parsed.address) && !is_v6(parsed.address)) return std::nullopt;
    if (port) {
        const auto number = parse_number<std::uint16_t>(*port);
        if (!number) return std::nullopt;
        parsed.port = *number;
    }
    return parsed;
}

net::ServerNames server_names(const ListenAddress& address, const net::ServerNames& machine) {
    net::ServerNames names;
    names.addresses = {"127.0.0.1", "::1", std::string(kube::kServerServiceHost)};
    names.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                       "kubernetes.default.svc.cluster.local"};
    if (address.loopback()) {
        add(names.addresses, address.address);
        return names;
    }
    for (const std::string& name : machine.dns_names) add(names.dns_names, name);
    if (!address.wildcard()) {
        add(names.addresses, address.address);
        return names;
    }
    for (const std::string& name : machine.addresses) add(names.addresses, name);
    return names;
}

net::ServerNames machine_names() {
    net::ServerNames names;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) == 0) {
        const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
        for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next)
            if (one->ifa_addr != nullptr) add(names.addresses, text_of(*one->ifa_addr));
    }
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) add(names.dns_names, host.data());
    return names;
}

}  // namespace muster::control_plane
