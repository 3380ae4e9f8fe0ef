#include "control_plane/internal/webhook_client.h"

#include <fmt/format.h>

#include "net/http/call_once.h"

namespace muster::control_plane {

namespace {

constexpr std::size_t kMaxAnswer = std::size_t{8} * 1024 * 1024;
constexpr int kMostRequests = 10;

/// As URL and Host field name it.
std::string authority_of(const HttpPlace& place) {
    const std::string name =
        place.host.find(':') == place.host.npos ? place.host : fmt::format("[{}]", place.host);
    return place.port == (place.tls ? 443 : 80) ? name : fmt::format("{}:{}", name, place.port);
}

HttpPlace place_of(const apiserver::WebhookEndpoint& endpoint, Duration time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    return {.tls = true,
            .host = endpoint.host,
            .port = endpoint.port,
            .target = fmt::format("{}?timeout={}s", endpoint.path, seconds)};
}

Error post_failed(std::string_view url, const Error& error) {
    return {error.code(), fmt::format("Post \"{}\": {}", url, error.message())};
}

}  // namespace

net::HttpConnector WebhookClient::connector(const apiserver::WebhookEndpoint& endpoint,
                                            const HttpPlace& place, net::TlsClientContext& tls) {
    const bool own = place.host == endpoint.host && place.port == endpoint.port;
    return dial_.connector(
        own ? endpoint.pod : std::nullopt,
        own && endpoint.place ? *endpoint.place : apiserver::NetworkPort{place.host, place.port},
        place.host, place.tls ? &tls : nullptr);
}

Task<Result<std::string>> WebhookClient::post(apiserver::WebhookEndpoint endpoint, std::string body,
                                              Duration time) {
    const Instant end = clock_.now() + time;
    std::string url = endpoint.url(time);
    HttpPlace place = place_of(endpoint, time);
    std::string host = endpoint.authority();
    auto tls = net::TlsClientContext::create(
        clock_, {.ca_pem = endpoint.ca_pem,
                 .trust = endpoint.ca_pem.empty() ? net::Trust::kSystem : net::Trust::kGiven});
    if (!tls) co_return post_failed(url, tls.error());
    Redirect how = Redirect::kSame;
    for (int turn = 0; turn < kMostRequests; ++turn) {
        net::HttpRequest request;
        request.target = place.target;
        request.headers = {{"User-Agent", "kube-apiserver-admission"},
                           {"Accept", "application/json, */*"}};
        if (how == Redirect::kSame) {
            request.method = "POST";
            request.headers.add("Content-Type", "application/json");
            request.body = body;
        }
        const Duration left = end - clock_.now();
        Result<net::HttpResponse> answer =
            co_await net::call_once(executor_, clock_, connector(endpoint, place, **tls),
                                    {.host = host, .connect_time = left, .body_bytes = kMaxAnswer},
                                    std::move(request), left);
        if (clock_.now() >= end)
            co_return post_failed(url, Error(Code::kTimeout, "context deadline exceeded"));
        if (!answer) co_return post_failed(url, answer.error());
        const auto location = answer->headers.find("Location");
        const Redirect next = location ? redirect_of(answer->status) : Redirect::kNone;
        if (next == Redirect::kNone) co_return body_or_failure(*std::move(answer));
        if (next == Redirect::kGet) how = next;
        url = std::string(*location);
        auto to = redirected(place, url);
        if (!to) co_return post_failed(url, to.error());
        const bool same_host = to->host == place.host && to->port == place.port;
        place = *std::move(to);
        if (!same_host) host = authority_of(place);
    }
    co_return post_failed(url, Error(Code::kUnavailable, "stopped after 10 redirects"));
}

}  // namespace muster::control_plane
