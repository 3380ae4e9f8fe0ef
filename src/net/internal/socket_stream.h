#pragma once

#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "net/byte_stream.h"
#include "net/tcp.h"

namespace muster::net {

using Socket = asio::generic::stream_protocol::socket;

/// A connected stream socket of any family.
std::unique_ptr<ByteStream> make_socket_stream(Socket socket, std::string peer);

/// Connects a new socket to an address. kUnavailable, or kNotFound for a Unix socket without a
/// file; `name` is the address in messages.
Task<Result<std::unique_ptr<ByteStream>>> connect_socket(
    asio::any_io_executor executor, asio::generic::stream_protocol::endpoint to, std::string name,
    TcpLiveness liveness = {});

/// The same with a socket that is already open.
Task<Result<std::unique_ptr<ByteStream>>> connect_opened(
    Socket socket, asio::generic::stream_protocol::endpoint to, std::string name,
    TcpLiveness liveness = {});

/// A bound socket that listens. Owns `fd`, which is non-blocking; `on_close` runs once.
std::unique_ptr<Listener> make_socket_listener(const asio::any_io_executor& executor, int fd,
                                               std::string address, std::function<void()> on_close);

/// "127.0.0.1:80", "[::1]:80", "unix".
std::string describe_address(const sockaddr_storage& address);

}  // namespace muster::net
