#include "apiserver_http/internal/streams/connection.h"

#include "apiserver/node_api.h"
#include "apiserver/requests/pod_containers.h"
#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/streams/channel_messages.h"
#include "apiserver_http/internal/streams/command_options.h"
#include "apiserver_http/internal/streams/command_stream.h"
#include "apiserver_http/internal/streams/port_tunnels.h"

namespace muster::apiserver_http {

namespace {

/// The stored pod of a connection, bound and known to a node.
apiserver::StatusResult<kube::ObjectPtr> pod_to_connect(const apiserver::RequestHandler& handler,
                                                        const apiserver::Target& target) {
    const apiserver::CachedObject* found =
        handler.cache().find(target.def->storage_key(), target.namespace_, target.name);
    if (found == nullptr) return apiserver::not_found(target.type(), target.name);
    kube::ObjectPtr pod = found->tree();
    const std::string_view node = apiserver::node_of(pod->get_object());
    if (node.empty())
        return apiserver::bad_request(
            fmt::format("pod {} does not have a host assigned", target.name));
    if (handler.node() == nullptr)
        return apiserver::unavailable(
            fmt::format("pod {} can't be reached: this API server has no connection to node {}",
                        target.name, node));
    return pod;
}

/// Chooses the protocol, before anything is done for it. Clients that know only SPDY/3.1 do not ask
/// for a WebSocket.
apiserver::StatusResult<std::string> judge_upgrade(const net::HttpRequest& request,
                                                   const std::vector<std::string>& protocols) {
    if (!net::asks_for_web_socket(request)) {
        if (!request.headers.contains("Upgrade"))
            return apiserver::bad_request("Upgrade request required");
        return apiserver::bad_request(fmt::format(
            "unable to upgrade connection: this server speaks WebSocket ({}) and not {}",
            fmt::join(protocols, ", "), request.headers.find("Upgrade").value_or("")));
    }
    auto judged = net::judge_web_socket(request, protocols);
    if (!judged) return apiserver::bad_request(judged.error().message());
    if (judged->protocol.empty())
        return apiserver::bad_request(
            fmt::format("a sub-protocol must be offered, one of: {}", fmt::join(protocols, ", ")));
    return std::move(judged->protocol);
}

/// And attach, which is the same without a command.
Task<apiserver::StatusResult<void>> exec(net::HttpExchange& exchange,
                                         apiserver::RequestHandler& handler,
                                         apiserver::Target target, kube::Request request) {
    CO_TRY(const kube::ObjectPtr pod, pod_to_connect(handler, target));
    CO_TRY(kube::CommandOptions options,
           command_options(request, pod->get_object(), target.subresource == "exec"));
    const std::vector<std::string> protocols{kChannelsV5, kChannelsV4};
    CO_TRY(const std::string protocol, judge_upgrade(exchange.request(), protocols));
    auto session =
        co_await handler.node()->exec(target.namespace_, target.name, std::move(options));
    // What can't be read from an answer to the handshake is said on the channel for it: who speaks
    // version 5 tries SPDY next, and would show what is wrong with that.
    if (!session && protocol != kChannelsV5) co_return std::move(session.error());
    auto socket = co_await net::accept_web_socket(exchange, protocols, {});
    if (!socket) co_return apiserver::StatusResult<void>();
    if (session)
        co_await carry_command(*std::move(socket), *std::move(session), handler.clock());
    else
        co_await refuse_command(*std::move(socket), session.error(), handler.clock());
    co_return apiserver::StatusResult<void>();
}

Task<apiserver::StatusResult<void>> forward_ports(net::HttpExchange& exchange,
                                                  apiserver::RequestHandler& handler,
                                                  apiserver::Target target, kube::Request request) {
    CO_TRY_VOID(pod_to_connect(handler, target));
    const std::vector<std::string> protocols{kSpdyTunnel, kChannelsV4};
    CO_TRY(const std::string protocol, judge_upgrade(exchange.request(), protocols));
    std::vector<std::uint16_t> ports;
    if (protocol == kChannelsV4) {
        CO_TRY(ports, requested_ports(request));
    }
    PortConnections::Connect connect = [node = handler.node(), ns = target.namespace_,
                                        name = target.name](std::uint16_t port) {
        return node->connect(ns, name, port);
    };
    auto socket = co_await net::accept_web_socket(exchange, protocols, {});
    if (!socket) co_return apiserver::StatusResult<void>();
    if (protocol == kSpdyTunnel)
        co_await carry_spdy_ports(*std::move(socket), std::move(connect), handler.clock());
    else
        co_await carry_channel_ports(*std::move(socket), std::move(ports), std::move(connect),
                                     handler.clock());
    co_return apiserver::StatusResult<void>();
}

}  // namespace

Task<apiserver::StatusResult<void>> connect_to_pod(net::HttpExchange& exchange,
                                                   apiserver::RequestHandler& handler,
                                                   apiserver::Target target,
                                                   kube::Request request) {
    if (request.method != kube::Method::kGet && request.method != kube::Method::kPost)
        co_return apiserver::method_not_allowed();
    if (target.subresource == "portforward")
        co_return co_await forward_ports(exchange, handler, std::move(target), std::move(request));
    co_return co_await exec(exchange, handler, std::move(target), std::move(request));
}

}  // namespace muster::apiserver_http
