#include "muster_run/node/node_store.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "net/port.h"
#include "net/tcp.h"

namespace muster::run {
namespace {

std::optional<asio::ip::address> address_of(const std::string& text) {
    boost::system::error_code error;
    const asio::ip::address address = asio::ip::make_address(text, error);
    if (error) return std::nullopt;
    return address;
}

/// For a port that is free in both families.
constexpr int kPortTries = 10;
/// Descriptors that are left to the rest of the agent.
constexpr std::size_t kForOthers = 256;

tcp_store::StoreLimits limits_here() {
    tcp_store::StoreLimits limits;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
        files.rlim_cur > 2 * kForOthers)
        limits.connections = std::min<std::size_t>(limits.connections, files.rlim_cur - kForOthers);
    return limits;
}

std::uint16_t port_of(const net::Listener& listener) {
    const std::string address = listener.address();
    const auto port = net::parse_port(std::string_view(address).substr(address.rfind(':') + 1));
    CHECK(port.has_value(), "a listener says its port");
    return *port;
}

Result<std::vector<std::unique_ptr<net::Listener>>> listen_everywhere(
    const asio::any_io_executor& executor, std::uint16_t port) {
    std::vector<std::unique_ptr<net::Listener>> listeners(1);
    TRY(listeners[0], net::listen_tcp_everywhere(executor, port));
    return listeners;
}

/// At the loopback addresses of both families, since clients may try either first, and some try no
/// other.
Result<std::vector<std::unique_ptr<net::Listener>>> listen_here(
    const asio::any_io_executor& executor, std::uint16_t port) {
    for (int tries = 1;; ++tries) {
        std::vector<std::unique_ptr<net::Listener>> listeners(1);
        TRY(listeners[0], net::listen_tcp(executor, "127.0.0.1", port));
        auto v6 = net::listen_tcp(executor, "::1", port_of(*listeners[0]));
        const bool taken = !v6 && v6.error().code() == Code::kAlreadyExists;
        if (taken && port == 0 && tries < kPortTries) continue;
        if (taken) return std::move(v6).error();
        // Otherwise this machine has no IPv6.
        if (v6) listeners.push_back(*std::move(v6));
        return listeners;
    }
}

/// One text for one address.
std::string plain(const std::string& text) {
    const auto address = address_of(text);
    if (!address) return text;
    if (address->is_v6() && address->to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address->to_v6()).to_string();
    return address->to_string();
}

}  // namespace

std::string host_of(const std::string& peer_address) {
    std::string host = peer_address.substr(0, peer_address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return plain(host);
}

NodeStore::NodeStore(const asio::any_io_executor& executor, Clock& clock,
                     std::vector<std::string> own_addresses)
    : server_(
          executor, clock, [this](const std::string& address) { return admits(address); },
          limits_here()) {
    for (const std::string& address : own_addresses) own_.insert(plain(address));
}

Result<std::unique_ptr<NodeStore>> NodeStore::open(const asio::any_io_executor& executor,
                                                   Clock& clock, std::uint16_t port,
                                                   std::vector<std::string> own_addresses,
                                                   StoreReach reach) {
    const bool alone = reach == StoreReach::kThisMachine;
    TRY(std::vector<std::unique_ptr<net::Listener>> listeners,
        alone ? listen_here(executor, port) : listen_everywhere(executor, port));
    std::unique_ptr<NodeStore> made(new NodeStore(executor, clock, std::move(own_addresses)));
    made->port_ = port_of(*listeners.front());
    if (alone) made->users_.emplace(made->port_);
    if (alone && !made->users_->known())
        log::warning(
            "this kernel does not tell whose a connection is: every user of this machine "
            "can reach the workers' store",
            {{"port", made->port_}});
    for (auto& listener : listeners) made->server_.serve(std::move(listener));
    return made;
}

void NodeStore::begin(const job_protocol::World& world) {
    server_.begin_anew();
    members_.clear();
    for (const job_protocol::Member& member : world.members) {
        members_.insert(plain(member.address));
        for (const std::string& address : member.addresses) members_.insert(plain(address));
    }
}

bool NodeStore::admits(const std::string& peer_address) const {
    const std::string host = host_of(peer_address);
    const auto address = address_of(host);
    if (users_) {
        const auto port =
            net::parse_port(std::string_view(peer_address).substr(peer_address.rfind(':') + 1));
        if (!address || !address->is_loopback() || !port) return false;
        if (!users_->known()) return true;
        const auto user = users_->user_at(host, *port);
        return user && (*user == ::geteuid() || *user == 0);
    }
    return (address && address->is_loopback()) || own_.contains(host) || members_.contains(host);
}

}  // namespace muster::run
