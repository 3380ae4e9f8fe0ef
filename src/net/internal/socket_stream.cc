#include "net/internal/socket_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <utility>

#include "base/async/cancellation.h"
#include "base/check.h"

namespace muster::net {

namespace {

using boost::system::error_code;

/// Less than what the kernel keeps for a socket at first, so that it isn't made to keep more.
constexpr int kMuchInput = 32 * 1024;

/// The IP address alone; empty for other families.
std::string host_of(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET) {
        const auto& in = reinterpret_cast<const sockaddr_in&>(address);
        ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
    } else if (address.ss_family == AF_INET6) {
        const in6_addr& in = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&in))
            ::inet_ntop(AF_INET, &in.s6_addr[12], text.data(), text.size());
        else
            ::inet_ntop(AF_INET6, &in, text.data(), text.size());
    }
    return text.data();
}

Error closed_here() { return Error(Code::kCancelled, "the connection was closed"); }

Error broken(std::string_view doing, const error_code& error) {
    return Error(Code::kUnavailable, fmt::format("{}: {}", doing, error.message()));
}

/// Small writes are sent immediately, and a peer that silently vanished is noticed: otherwise a
/// stream that only reads would wait for it without end. Accepted sockets inherit this from their
/// listener.
void tune(int fd, const TcpLiveness& liveness) {
    const auto set = [fd](int level, int option, int value) {
        ::setsockopt(fd, level, option, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(liveness.idle.count()));
    set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(liveness.interval.count()));
    set(IPPROTO_TCP, TCP_KEEPCNT, liveness.probes);
    if (liveness.unacknowledged.count() > 0)
        set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(liveness.unacknowledged.count()));
}

class SocketStream final : public ByteStream {
  public:
    SocketStream(Socket socket, std::string peer)
        : socket_(std::move(socket)), peer_(std::move(peer)) {}

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        CHECK(into.size() > 0, "a read of nothing");
        if (closed_) co_return closed_here();
        // Remembered: the reactor learns of an end once, and a read after it would never return.
        if (input_ended_) co_return std::size_t{0};
        wake_for(1);
        error_code error;
        const std::size_t size = co_await socket_.async_read_some(
            into, asio::redirect_error(asio::use_awaitable, error));
        was_full_ = size == into.size();
        if (!error) co_return size;
        if (error == asio::error::eof) {
            input_ended_ = true;
            co_return std::size_t{0};
        }
        co_return failure("reading", error);
    }

    Task<Result<void>> write(ConstBuffers bytes) override {
        CHECK(!shut_down_, "a write after shut_down_write()");
        std::size_t left = bytes.size();
        while (left > 0) {
            if (closed_) co_return closed_here();
            // First without asking the loop: the socket's buffer usually has room.
            const ssize_t sent = send(bytes);
            if (sent >= 0) {
                left -= static_cast<std::size_t>(sent);
                bytes.consume(static_cast<std::size_t>(sent));
                continue;
            }
            if (errno == EINTR) continue;
            error_code error(errno, boost::system::system_category());
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                error.clear();
                co_await socket_.async_wait(Socket::wait_write,
                                            asio::redirect_error(asio::use_awaitable, error));
            }
            if (error) co_return failure("writing", error);
        }
        co_return Result<void>();
    }

    std::size_t write_now(ConstBuffers bytes) override {
        CHECK(!shut_down_, "a write after shut_down_write()");
        if (closed_) return 0;
        const ssize_t sent = send(bytes);
        return sent < 0 ? 0 : static_cast<std::size_t>(sent);
    }

    Task<Result<void>> shut_down_write() override {
        if (closed_) co_return closed_here();
        shut_down_ = true;
        error_code error;
        socket_.shutdown(Socket::shutdown_send, error);
        if (error) co_return failure("ending the connection", error);
        co_return Result<void>();
    }

    void close() override {
        closed_ = true;
        error_code ignored;  // the descriptor is gone in any case
        socket_.close(ignored);
    }

    bool has_input() const override {
        if (closed_ || input_ended_) return true;
        wake_for(1);
        pollfd socket{.fd = const_cast<Socket&>(socket_).native_handle(),
                      .events = POLLIN | POLLRDHUP,
                      .revents = 0};
        return ::poll(&socket, 1, 0) != 0;
    }

    bool gather() override {
        if (closed_ || input_ended_ || was_full_) return false;
        wake_for(kMuchInput);
        return true;
    }

    std::string peer_address() const override { return peer_; }
    std::string local_host() const {
        sockaddr_storage own{};
        socklen_t size = sizeof own;
        if (closed_ || ::getsockname(const_cast<Socket&>(socket_).native_handle(),
                                     reinterpret_cast<sockaddr*>(&own), &size) != 0)
            return {};
        return host_of(own);
    }

  private:
    /// Once a socket is registered, asio's reactor wakes the loop for all input, whether a read waits
    /// or not.
    void wake_for(int bytes) const {
        if (std::exchange(wakes_for_, bytes) == bytes) return;
        ::setsockopt(const_cast<Socket&>(socket_).native_handle(), SOL_SOCKET, SO_RCVLOWAT, &bytes,
                     sizeof bytes);
    }

    ssize_t send(const ConstBuffers& bytes) {
        std::array<iovec, ConstBuffers::kMost> parts{};
        std::size_t count = 0;
        for (const asio::const_buffer& piece : bytes.pieces())
            if (piece.size() > 0)
                parts[count++] = {.iov_base = const_cast<void*>(piece.data()),
                                  .iov_len = piece.size()};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        return ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    /// Throws if the coroutine was cancelled.
    Error failure(std::string_view doing, const error_code& error) const {
        if (closed_) return closed_here();
        rethrow_cancellation(error);
        return broken(doing, error);
    }

    Socket socket_;
    std::string peer_;
    mutable int wakes_for_ = 1;  ///< bytes
    bool was_full_ = false;      ///< the last read
    bool input_ended_ = false;
    bool shut_down_ = false;
    bool closed_ = false;
};

class SocketListener final : public Listener {
  public:
    SocketListener(const asio::any_io_executor& executor, int fd, std::string address,
                   std::function<void()> on_close)
        : socket_(executor, fd), address_(std::move(address)), on_close_(std::move(on_close)) {
        int family = AF_UNSPEC;
        socklen_t size = sizeof family;
        ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
        if (family != AF_UNIX) tune(fd, {});
    }
    ~SocketListener() override { close(); }

    Task<Result<std::unique_ptr<ByteStream>>> accept() override {
        for (;;) {
            if (closed_) co_return Error(Code::kCancelled, "the listener was closed");
            sockaddr_storage from{};
            socklen_t size = sizeof from;
            const int fd = ::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&from),
                                     &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd >= 0) co_return take(fd, from);
            const int why = errno;
            if (why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM)
                co_return Error(
                    Code::kTooManyRequests,
                    fmt::format("accepting at {}: {}", address_,
                                error_code(why, boost::system::system_category()).message()));
            if (why == EBADF || why == EINVAL || why == ENOTSOCK || why == EOPNOTSUPP)
                co_return system_error(fmt::format("accepting at {}", address_), why);
            if (why != EAGAIN && why != EWOULDBLOCK) continue;  // that one connection failed
            error_code error;
            co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                                        asio::redirect_error(asio::use_awaitable, error));
            if (closed_) continue;
            if (error) throw boost::system::system_error(error);  // cancelled
        }
    }

    void close() override {
        if (closed_) return;
        closed_ = true;
        if (on_close_) on_close_();
        error_code ignored;
        socket_.close(ignored);
    }

    std::string address() const override { return address_; }

  private:
    Result<std::unique_ptr<ByteStream>> take(int fd, const sockaddr_storage& from) {
        Socket socket(socket_.get_executor());
        error_code error;
        socket.assign(asio::generic::stream_protocol(from.ss_family, 0), fd, error);
        if (error) {
            ::close(fd);
            return Error(Code::kTooManyRequests,
                         fmt::format("accepting at {}: {}", address_, error.message()));
        }
        return make_socket_stream(std::move(socket), describe_address(from));
    }

    asio::posix::stream_descriptor socket_;
    std::string address_;
    std::function<void()> on_close_;
    bool closed_ = false;
};

}  // namespace

std::string local_host(const ByteStream& stream) {
    const auto* const socket = dynamic_cast<const SocketStream*>(&stream);
    return socket == nullptr ? std::string() : socket->local_host();
}

std::unique_ptr<ByteStream> make_socket_stream(Socket socket, std::string peer) {
    return std::make_unique<SocketStream>(std::move(socket), std::move(peer));
}

Task<Result<std::unique_ptr<ByteStream>>> connect_socket(
    asio::any_io_executor executor, asio::generic::stream_protocol::endpoint to, std::string name,
    TcpLiveness liveness) {
    Socket socket(executor);
    error_code error;
    socket.open(to.protocol(), error);
    if (error) co_return broken(fmt::format("connecting to {}", name), error);
    co_return co_await connect_opened(std::move(socket), std::move(to), std::move(name), liveness);
}

Task<Result<std::unique_ptr<ByteStream>>> connect_opened(
    Socket socket, asio::generic::stream_protocol::endpoint to, std::string name,
    TcpLiveness liveness) {
    error_code error;
    co_await socket.async_connect(to, asio::redirect_error(asio::use_awaitable, error));
    rethrow_cancellation(error);
    if (error) {
        Error failed = broken(fmt::format("connecting to {}", name), error);
        if (error == boost::system::errc::no_such_file_or_directory)
            failed = Error(Code::kNotFound, failed.message());
        co_return failed;
    }
    if (to.protocol().family() != AF_UNIX) tune(socket.native_handle(), liveness);
    co_return make_socket_stream(std::move(socket), std::move(name));
}

std::unique_ptr<Listener> make_socket_listener(const asio::any_io_executor& executor, int fd,
                                               std::string address,
                                               std::function<void()> on_close) {
    return std::make_unique<SocketListener>(executor, fd, std::move(address), std::move(on_close));
}

std::string describe_address(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET) {
        const auto& in = reinterpret_cast<const sockaddr_in&>(address);
        ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
        return fmt::format("{}:{}", text.data(), ntohs(in.sin_port));
    }
    if (address.ss_family == AF_INET6) {
        const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
        ::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
        return fmt::format("[{}]:{}", text.data(), ntohs(in.sin6_port));
    }
    return "unix";
}

}  // namespace muster::net
