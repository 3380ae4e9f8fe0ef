#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "net/byte_stream.h"

namespace muster::net {

/// How to notice a peer that silently vanished: probes during silence, and how long sent data may
/// stay unacknowledged.
struct TcpLiveness {
    std::chrono::seconds idle{30};      ///< of silence before the first probe
    std::chrono::seconds interval{15};  ///< between probes
    int probes = 4;                     ///< unanswered probes until the connection counts as broken
    /// Limit for sent data; 0 for the system's, a quarter of an hour.
    std::chrono::milliseconds unacknowledged{0};
};

/// Listens on an IP address of this machine; port 0 takes a free one, which address() tells.
/// kAlreadyExists if the port is taken, kForbidden if we have no right to it, kInvalid if `address`
/// is not an IP address. Connections send without delay (TCP_NODELAY) and notice a peer that
/// vanished (keep-alive).
Result<std::unique_ptr<Listener>> listen_tcp(asio::any_io_executor executor, std::string address,
                                             std::uint16_t port);

/// The same on all addresses of this machine: one socket for both families if the kernel has both.
Result<std::unique_ptr<Listener>> listen_tcp_everywhere(asio::any_io_executor executor,
                                                        std::uint16_t port);

/// The same with a socket that was opened elsewhere, for example in another network namespace, and
/// that already listens, without blocking. Owns `socket` from the call on.
Result<std::unique_ptr<Listener>> listen_tcp_socket(asio::any_io_executor executor, int socket);

/// `address` is an IP address or "localhost". kUnavailable if no one listens there.
Task<Result<std::unique_ptr<ByteStream>>> connect_tcp(asio::any_io_executor executor,
                                                      std::string address, std::uint16_t port,
                                                      TcpLiveness liveness = {});

/// The same with a socket that was opened elsewhere, for example in another network namespace, and
/// that is neither bound nor connected. Owns `socket` from the call on.
Task<Result<std::unique_ptr<ByteStream>>> connect_tcp_socket(asio::any_io_executor executor,
                                                             int socket, std::string address,
                                                             std::uint16_t port);

/// This side's IP address of a TCP connection, an IPv4 address as such also where a socket of both
/// families has it; empty for other streams, also for TLS above TCP, and once it is closed.
std::string local_host(const ByteStream& stream);

/// Listens on a Unix socket that only this user may connect to (0600). Makes its directory if it is
/// missing (0700), and refuses it (kForbidden) if others may write to it. Replaces the file of a
/// dead listener; kAlreadyExists if a live one answers. Closing removes the file.
Result<std::unique_ptr<Listener>> listen_unix(asio::any_io_executor executor,
                                              std::filesystem::path path);

/// kNotFound if the file is missing, kUnavailable if no one listens on it.
Task<Result<std::unique_ptr<ByteStream>>> connect_unix(asio::any_io_executor executor,
                                                       std::filesystem::path path);

}  // namespace muster::net
