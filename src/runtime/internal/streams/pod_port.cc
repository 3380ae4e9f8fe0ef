#include "runtime/internal/streams/pod_port.h"

#include <sys/socket.h>

#include <cerrno>

#include "net/tcp.h"

namespace muster::runtime {

namespace {

Result<UniqueFd> open_socket(const PodPort& port, int domain) {
    constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK;
    if (port.network) return port.network->open_socket(domain, kType, 0);
    UniqueFd socket(::socket(domain, kType | SOCK_CLOEXEC, 0));
    if (!socket) return system_error("opening a socket to a pod", errno);
    return socket;
}

}  // namespace

Task<Result<std::unique_ptr<net::ByteStream>>> connect_port(asio::any_io_executor executor,
                                                            PodPort port) {
    std::optional<Error> first;
    for (const std::string& address : port.addresses) {
        auto socket = open_socket(port, address.find(':') == address.npos ? AF_INET : AF_INET6);
        Result<std::unique_ptr<net::ByteStream>> connected = Error(Code::kUnavailable, "not tried");
        if (socket)
            connected =
                co_await net::connect_tcp_socket(executor, socket->release(), address, port.number);
        else
            connected = socket.error();
        if (connected) co_return std::move(connected);
        if (!first) first = connected.error();
    }
    co_return *std::move(first);
}

}  // namespace muster::runtime
