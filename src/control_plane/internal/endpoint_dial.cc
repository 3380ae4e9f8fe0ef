#include "control_plane/internal/endpoint_dial.h"

#include <fmt/format.h>

#include <vector>

#include "net/tcp.h"

namespace muster::control_plane {

net::HttpConnector EndpointDial::connector(std::optional<apiserver::PodPort> pod,
                                           apiserver::NetworkPort to, std::string server_name,
                                           net::TlsClientContext* tls) {
    // connect() has copies: this lambda may be gone before it ends.
    return [this, pod = std::move(pod), to = std::move(to), name = std::move(server_name), tls] {
        return connect(pod, to, name, tls);
    };
}

Task<EndpointDial::Stream> EndpointDial::connect(std::optional<apiserver::PodPort> pod,
                                                 apiserver::NetworkPort to, std::string server_name,
                                                 net::TlsClientContext* tls) {
    Stream stream = pod ? co_await connect_to_pod_(*std::move(pod))
                        : co_await connect_to_network(std::move(to));
    if (!stream || tls == nullptr) co_return stream;
    CO_TRY(auto session, co_await tls->connect(*std::move(stream), std::move(server_name)));
    co_return std::move(session);
}

Task<EndpointDial::Stream> EndpointDial::connect_to_network(apiserver::NetworkPort to) {
    CO_TRY(const std::vector<std::string> addresses, co_await names_.addresses(to.host));
    Stream stream = Error(Code::kUnavailable, fmt::format("{} has no address", to.host));
    for (const std::string& address : addresses) {
        stream = co_await net::connect_tcp(executor_, address, to.number);
        if (stream) break;
    }
    co_return stream;
}

}  // namespace muster::control_plane
