#include "net/http/proxy_tunnel.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <limits>

#include "net/internal/http/client_connection.h"
#include "net/internal/http/socks.h"

namespace muster::net {

namespace {

// Limit of the answer to a CONNECT.
constexpr std::size_t kMostHead = std::size_t{64} * 1024;

std::string authority(const TunnelEnd& to) {
    const bool v6 = to.host.find(':') != to.host.npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", to.host, v6 ? "]" : "", to.port);
}

Task<Result<std::string>> read_exactly(ByteStream& stream, std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t have = 0; have < size;) {
        CO_TRY(const std::size_t got,
               co_await stream.read_some(asio::buffer(bytes.data() + have, size - have)));
        if (got == 0) co_return Error(Code::kUnavailable, "it ended the connection");
        have += got;
    }
    co_return bytes;
}

Task<Result<void>> converse_socks(ByteStream& stream, const TunnelEnd& to,
                                  const ProxyLogin& login) {
    const std::string hello = socks_hello(!login.empty());
    CO_TRY_VOID(co_await stream.write(asio::buffer(hello)));
    CO_TRY(const std::string choice, co_await read_exactly(stream, kSocksChoiceBytes));
    CO_TRY(const SocksMethod method, read_socks_choice(choice, !login.empty()));
    if (method == SocksMethod::kPassword) {
        CO_TRY(const std::string credentials, socks_login(login));
        CO_TRY_VOID(co_await stream.write(asio::buffer(credentials)));
        CO_TRY(const std::string verdict, co_await read_exactly(stream, kSocksVerdictBytes));
        CO_TRY_VOID(read_socks_verdict(verdict));
    }
    CO_TRY(const std::string wish, socks_connect(to));
    CO_TRY_VOID(co_await stream.write(asio::buffer(wish)));
    CO_TRY(const std::string reply, co_await read_exactly(stream, kSocksReplyBytes));
    CO_TRY(const std::size_t rest, read_socks_reply(reply));
    // The address of the proxy's own end, which is not needed.
    CO_TRY([[maybe_unused]] const std::string bound, co_await read_exactly(stream, rest));
    co_return Result<void>();
}

Error at_proxy(const std::string& proxy, const TunnelEnd& to, const Error& error) {
    return Error(error.code(), fmt::format("the proxy at {} does not connect to {}: {}", proxy,
                                           authority(to), error.message()));
}

}  // namespace

Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_http(std::unique_ptr<ByteStream> stream,
                                                              TunnelEnd to, ProxyLogin login) {
    const std::string proxy = stream->peer_address();
    HttpRequest request;
    request.method = "CONNECT";
    request.target = authority(to);
    if (!login.empty())
        request.headers.add("Proxy-Authorization", basic_authorization(login.user, login.password));
    Result<std::string> head = request_head(request, request.target);
    if (!head) co_return at_proxy(proxy, to, head.error());
    ClientConnection connection(
        co_await asio::this_coro::executor, std::move(stream),
        {.head = kMostHead, .body = std::numeric_limits<std::size_t>::max()});
    ClientConnection::Progress progress;
    const Result<void> answered = co_await connection.exchange(*head, request, progress);
    // Nothing has been sent to the server behind the proxy.
    if (!answered)
        co_return at_proxy(proxy, to, Error(Code::kUnavailable, answered.error().message()));
    const unsigned status = connection.response().status;
    if (status >= 200 && status < 300) co_return connection.take_stream();
    co_return at_proxy(proxy, to,
                       Error(status == 407 ? Code::kUnauthorized : Code::kForbidden,
                             fmt::format("it answered {} {}", status, reason_phrase(status))));
}

Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_socks(std::unique_ptr<ByteStream> stream,
                                                               TunnelEnd to, ProxyLogin login) {
    const Result<void> open = co_await converse_socks(*stream, to, login);
    if (!open) co_return at_proxy(stream->peer_address(), to, open.error());
    co_return std::move(stream);
}

}  // namespace muster::net
