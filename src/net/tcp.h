#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "net/byte_stream.h"

namespace muster::net {

/// How a peer that vanished without a word is noticed: probes into the silence, and how long what
/// was sent may stay unacknowledged.
struct TcpLiveness {
    std::chrono::seconds idle{30};      ///< of silence before the first probe
    std::chrono::seconds interval{15};  ///< between probes
    int probes = 4;                     ///< without an answer: the connection is broken
    /// Of what was sent, too; 0: as the system has it, a quarter of an hour.
    std::chrono::milliseconds unacknowledged{0};
};

/// Listens on an address of this machine, not a name; port 0 takes a free one, which address()
/// tells. kAlreadyExists when the port is taken, kForbidden when it is not ours to take, kInvalid
/// when `address` is none. Connections send without
/// delay (TCP_NODELAY) and notice a peer that vanished (keep-alive).
Result<std::unique_ptr<Listener>> listen_tcp(asio::any_io_executor executor, std::string address,
                                             std::uint16_t port);

/// The same on all addresses of this machine: one socket for both families where the kernel has
/// both.
Result<std::unique_ptr<Listener>> listen_tcp_everywhere(asio::any_io_executor executor,
                                                        std::uint16_t port);

/// The same with a socket that was opened elsewhere, as in another network namespace, and that
/// listens already, without blocking. Owns `socket` from the call on.
Result<std::unique_ptr<Listener>> listen_tcp_socket(asio::any_io_executor executor, int socket);

/// `address` is an IP address or "localhost". kUnavailable when nobody answers there.
Task<Result<std::unique_ptr<ByteStream>>> connect_tcp(asio::any_io_executor executor,
                                                      std::string address, std::uint16_t port,
                                                      TcpLiveness liveness = {});

/// The same with a socket that was opened elsewhere, as in another network namespace, and that is
/// neither bound nor connected. Owns `socket` from the call on.
Task<Result<std::unique_ptr<ByteStream>>> connect_tcp_socket(asio::any_io_executor executor,
                                                             int socket, std::string address,
                                                             std::uint16_t port);

/// Listens on a Unix socket that only this user may connect to (0600). Its directory is made if it
/// is missing (0700), and refused (kForbidden) if others may write to it. The file that a dead
/// listener left is replaced; kAlreadyExists if a live one answers. Closing removes the file.
Result<std::unique_ptr<Listener>> listen_unix(asio::any_io_executor executor,
                                              std::filesystem::path path);

/// kNotFound without the file, kUnavailable when nobody listens on it.
Task<Result<std::unique_ptr<ByteStream>>> connect_unix(asio::any_io_executor executor,
                                                       std::filesystem::path path);

}  // namespace muster::net
