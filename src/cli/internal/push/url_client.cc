#include "cli/internal/push/url_client.h"

#include <fmt/format.h>

#include "base/time/time_limit.h"
#include "net/http/call_once.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

/// Of what is read of an answer.
constexpr std::size_t kMostOfAnswer = std::size_t{64} * 1024;

}  // namespace

UrlClient::UrlClient(asio::any_io_executor executor, Clock& clock, kube::ServerUrl url)
    : executor_(std::move(executor)), clock_(clock), url_(std::move(url)), names_(executor_) {}

Task<Result<std::unique_ptr<net::ByteStream>>> UrlClient::connect() {
    Result<std::unique_ptr<net::ByteStream>> stream =
        Error(Code::kUnavailable, url_.host + " has no address");
    for (const std::string& address : std::vector(addresses_)) {
        stream = co_await net::connect_tcp(executor_, address, url_.port);
        if (stream) break;
    }
    if (!stream || !url_.tls) co_return stream;
    CO_TRY(auto session, co_await tls_->connect(*std::move(stream), url_.host));
    co_return std::move(session);
}

Task<Result<net::HttpResponse>> UrlClient::send(net::HttpRequest request, Duration time) {
    const Instant end = clock_.now() + time;
    request.target = url_.path_prefix + request.target;
    if (url_.tls && !tls_) {
        CO_TRY(tls_,
               net::TlsClientContext::create(clock_, {.ca_pem = {}, .trust = net::Trust::kSystem}));
    }
    if (addresses_.empty()) {
        auto found = co_await within(clock_, time, names_.addresses(url_.host));
        if (!found)
            co_return Error(Code::kUnavailable,
                            fmt::format("looking up {}: no answer in time", url_.host));
        CO_TRY(addresses_, *std::move(found));
    }
    const Duration left = end - clock_.now();
    co_return co_await net::call_once(
        executor_, clock_, [this] { return connect(); },
        {.host = url_.authority(), .connect_time = left, .body_bytes = kMostOfAnswer},
        std::move(request), left);
}

}  // namespace muster::cli
