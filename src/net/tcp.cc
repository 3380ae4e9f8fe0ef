#include "net/tcp.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>

#include "net/internal/socket_stream.h"

namespace muster::net {

namespace {

namespace fs = std::filesystem;
using asio::ip::tcp;

/// Connections that wait to be accepted; the kernel lowers it to its own limit.
constexpr int kBacklog = 4096;

/// Closes a socket that was not passed on.
class OpenSocket {
  public:
    explicit OpenSocket(int fd) : fd_(fd) {}
    ~OpenSocket() {
        if (fd_ >= 0) ::close(fd_);
    }
    OpenSocket(const OpenSocket&) = delete;
    OpenSocket& operator=(const OpenSocket&) = delete;
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

Result<tcp::endpoint> parse_endpoint(const std::string& address, std::uint16_t port) {
    boost::system::error_code error;
    const auto parsed = asio::ip::make_address(address, error);
    if (error) return Error(Code::kInvalid, fmt::format("\"{}\" is not an IP address", address));
    return tcp::endpoint(parsed, port);
}

/// Our code for an errno of bind() or listen().
Error listen_error(const std::string& what, int why) {
    Error error = system_error(fmt::format("listening at {}", what), why);
    if (why == EADDRINUSE)
        return Error(Code::kAlreadyExists,
                     fmt::format("listening at {}: another program listens there", what));
    if (why == EADDRNOTAVAIL)
        return Error(Code::kInvalid, fmt::format("listening at {}: this machine does not have "
                                                 "that address",
                                                 what));
    return error;
}

/// The directory of a socket: only we may write to it; made if it is missing.
Result<void> private_directory(const fs::path& directory) {
    std::error_code error;
    if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
        return system_error(fmt::format("making {}", directory.string()), errno);
    struct stat found{};
    if (::stat(directory.c_str(), &found) != 0)
        return system_error(fmt::format("looking at {}", directory.string()), errno);
    if (!S_ISDIR(found.st_mode))
        return Error(Code::kInvalid, fmt::format("{} is not a directory", directory.string()));
    if (found.st_uid != ::geteuid() || (found.st_mode & 022) != 0)
        return Error(Code::kForbidden,
                     fmt::format("{} belongs to someone else or others may write to it: a socket "
                                 "there could be replaced (chmod 700 it, or choose another)",
                                 directory.string()));
    return {};
}

Result<sockaddr_un> unix_address(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& text = path.native();
    if (text.empty() || text.size() >= sizeof address.sun_path)
        return Error(Code::kInvalid, fmt::format("the path of a Unix socket has 1 to {} bytes: {}",
                                                 sizeof address.sun_path - 1, text));
    text.copy(address.sun_path, text.size());
    return address;
}

/// Removes the file of a dead listener; kAlreadyExists if one is alive, or if it is not a socket.
Result<void> remove_stale(const fs::path& path, const sockaddr_un& address) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return system_error(fmt::format("looking at {}", path.string()), errno);
    }
    if (!S_ISSOCK(found.st_mode))
        return Error(Code::kAlreadyExists,
                     fmt::format("{} exists and is not a socket", path.string()));
    const OpenSocket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (probe.get() < 0) return system_error("making a socket", errno);
    if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
        errno != ECONNREFUSED)
        return Error(Code::kAlreadyExists,
                     fmt::format("listening at {}: another program listens there", path.string()));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return system_error(fmt::format("removing {}", path.string()), errno);
    return {};
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(asio::any_io_executor executor, std::string address,
                                             std::uint16_t port) {
    TRY(const tcp::endpoint endpoint, parse_endpoint(address, port));
    const std::string name = fmt::format("{}:{}", address, port);
    OpenSocket socket(::socket(endpoint.protocol().family(),
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (socket.get() < 0) return system_error("making a socket", errno);
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(endpoint.data()),
               static_cast<socklen_t>(endpoint.size())) != 0 ||
        ::listen(socket.get(), kBacklog) != 0)
        return listen_error(name, errno);
    return listen_tcp_socket(std::move(executor), socket.release());
}

Result<std::unique_ptr<Listener>> listen_tcp_everywhere(asio::any_io_executor executor,
                                                        std::uint16_t port) {
    auto both = listen_tcp(executor, "::", port);
    if (both || both.error().code() == Code::kAlreadyExists) return both;
    return listen_tcp(executor, "0.0.0.0", port);
}

Result<std::unique_ptr<Listener>> listen_tcp_socket(asio::any_io_executor executor, int fd) {
    OpenSocket socket(fd);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
        return system_error("asking for the port", errno);
    return make_socket_listener(executor, socket.release(), describe_address(bound), {});
}

Task<Result<std::unique_ptr<ByteStream>>> connect_tcp(asio::any_io_executor executor,
                                                      std::string address, std::uint16_t port,
                                                      TcpLiveness liveness) {
    if (address == "localhost") address = "127.0.0.1";
    CO_TRY(const tcp::endpoint endpoint, parse_endpoint(address, port));
    co_return co_await connect_socket(executor, endpoint, fmt::format("{}:{}", address, port),
                                      liveness);
}

Task<Result<std::unique_ptr<ByteStream>>> connect_tcp_socket(asio::any_io_executor executor,
                                                             int socket, std::string address,
                                                             std::uint16_t port) {
    OpenSocket owned(socket);
    CO_TRY(const tcp::endpoint endpoint, parse_endpoint(address, port));
    Socket assigned(executor);
    boost::system::error_code error;
    assigned.assign(asio::generic::stream_protocol(endpoint.protocol()), owned.get(), error);
    if (error) co_return Error(Code::kInternal, "taking a socket: " + error.message());
    (void)owned.release();
    co_return co_await connect_opened(std::move(assigned), endpoint,
                                      fmt::format("{}:{}", address, port));
}

Result<std::unique_ptr<Listener>> listen_unix(asio::any_io_executor executor, fs::path path) {
    TRY(const sockaddr_un address, unix_address(path));
    TRY_VOID(private_directory(path.has_parent_path() ? path.parent_path() : fs::path(".")));
    TRY_VOID(remove_stale(path, address));
    OpenSocket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) return system_error("making a socket", errno);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return listen_error(path.string(), errno);
    // No one can connect before listen(), so the file is ours alone from the start.
    struct stat made{};
    if (::chmod(path.c_str(), 0600) != 0 || ::lstat(path.c_str(), &made) != 0 ||
        ::listen(socket.get(), kBacklog) != 0) {
        Error failed = listen_error(path.string(), errno);
        ::unlink(path.c_str());
        return failed;
    }
    // Another listener may have taken our place meanwhile: then its file stays.
    auto remove = [path, made] {
        struct stat found{};
        if (::lstat(path.c_str(), &found) == 0 && found.st_ino == made.st_ino &&
            found.st_dev == made.st_dev)
            ::unlink(path.c_str());
    };
    return make_socket_listener(executor, socket.release(), "unix:" + path.string(),
                                std::move(remove));
}

Task<Result<std::unique_ptr<ByteStream>>> connect_unix(asio::any_io_executor executor,
                                                       fs::path path) {
    CO_TRY([[maybe_unused]] const sockaddr_un address, unix_address(path));
    co_return co_await connect_socket(
        executor, asio::local::stream_protocol::endpoint(path.string()), "unix:" + path.string());
}

}  // namespace muster::net
