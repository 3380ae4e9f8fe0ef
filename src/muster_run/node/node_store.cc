#include "muster_run/node/node_store.h"

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
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
    : server_(executor, clock,
              [this](const std::string& address) { return admits(host_of(address)); }) {
    for (const std::string& address : own_addresses) own_.insert(plain(address));
}

Result<std::unique_ptr<NodeStore>> NodeStore::open(const asio::any_io_executor& executor,
                                                   Clock& clock, std::uint16_t port,
                                                   std::vector<std::string> own_addresses) {
    TRY(auto listener, net::listen_tcp_everywhere(executor, port));
    std::unique_ptr<NodeStore> made(new NodeStore(executor, clock, std::move(own_addresses)));
    const std::string address = listener->address();
    const auto own = net::parse_port(std::string_view(address).substr(address.rfind(':') + 1));
    CHECK(own.has_value(), "a listener says its port");
    made->port_ = *own;
    made->server_.serve(std::move(listener));
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

bool NodeStore::admits(const std::string& host) const {
    const auto address = address_of(host);
    return (address && address->is_loopback()) || own_.contains(host) || members_.contains(host);
}

}  // namespace muster::run
