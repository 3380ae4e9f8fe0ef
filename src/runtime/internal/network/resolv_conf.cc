#include "runtime/internal/network/resolv_conf.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/fields.h"
#include "runtime/internal/network/pod_network.h"

namespace muster::runtime {

namespace {

/// As many as the C library uses.
constexpr std::size_t kMostServers = 3;

struct Server {
    std::string text;
    bool loopback;
};

struct Parsed {
    std::vector<Server> servers;  ///< IPv4, as pods have no other
    std::string rest;             ///< lines that apply to pods too
};

std::string_view first_word(std::string_view& line) {
    constexpr std::string_view kBlank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

std::optional<Server> read_server(std::string_view word) {
    Server server{std::string(word), false};
    in_addr address{};
    if (::inet_pton(AF_INET, server.text.c_str(), &address) != 1) return std::nullopt;
    const std::uint32_t host = ntohl(address.s_addr);
    server.loopback = host >> 24 == 127 || host == 0;
    return server;
}

Parsed parse(std::string_view text) {
    Parsed parsed;
    while (!text.empty()) {
        const std::string_view line = take_field(text, '\n');
        std::string_view words = line;
        const std::string_view key = first_word(words);
        if (key == "nameserver") {
            if (auto server = read_server(first_word(words))) parsed.servers.push_back(*server);
        } else if (key == "search" || key == "domain" || key == "options" || key == "sortlist") {
            parsed.rest += fmt::format("{}\n", line);
        }
    }
    return parsed;
}

}  // namespace

ResolvConf resolv_conf_with_egress(std::string_view machine, std::string_view behind_loopback,
                                   std::uint32_t forwarder) {
    const Parsed own = parse(machine);
    std::vector<std::string> servers;
    const auto add_reachable = [&servers](const std::vector<Server>& from) {
        for (const Server& server : from)
            if (!server.loopback && servers.size() < kMostServers) servers.push_back(server.text);
    };
    // The C library asks 127.0.0.1 if no server is named.
    const bool forwarded = own.servers.empty() || own.servers.front().loopback;
    if (forwarded) {
        servers.push_back(format_address(forwarder));
        add_reachable(own.servers);
        add_reachable(parse(behind_loopback).servers);
    } else {
        add_reachable(own.servers);
    }
    std::string text;
    for (const std::string& server : servers) text += fmt::format("nameserver {}\n", server);
    return {.text = text + own.rest, .forwarded = forwarded};
}

std::string resolv_conf_without_egress(std::uint32_t refuser) {
    return fmt::format("nameserver {}\noptions attempts:1\n", format_address(refuser));
}

}  // namespace muster::runtime
