#include "apiserver_http/internal/extensions/extension_proxy.h"

#include <fmt/format.h>

#include <array>

#include "apiserver/aggregation/extension_action.h"
#include "apiserver_http/internal/extensions/forwarded_headers.h"
#include "apiserver_http/internal/wire/answer_headers.h"
#include "base/async/first_of.h"
#include "base/parse_number.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kOpenApiOfGroups = "/openapi/v3/apis/";
constexpr Duration kForwardTime = std::chrono::seconds(60);
/// As upstream: discovery of all groups waits for the slowest server.
constexpr Duration kDiscoveryTime = std::chrono::seconds(5);
/// Requests with an end, to one service and to all.
constexpr std::size_t kMostOfService = 50;
constexpr std::size_t kMostOfAll = 100;
/// An answer that says that it is no larger is sent as a whole.
constexpr std::size_t kSmallAnswer = std::size_t{64} * 1024;
/// A piece that is smaller takes no more memory than each connection does.
constexpr std::size_t kSmallPart = std::size_t{4} * 1024;
constexpr std::size_t kTunnelBuffer = std::size_t{16} * 1024;

constexpr unsigned kOkay = 200;
constexpr unsigned kNoContent = 204;
constexpr unsigned kRedirects = 300;
constexpr unsigned kNotModified = 304;
constexpr unsigned kClientErrors = 400;
constexpr unsigned kBadGateway = 502;
constexpr unsigned kServiceUnavailable = 503;
constexpr unsigned kLastStatus = 599;

/// As Go's http.Error() writes it.
void respond_plain(Incoming& incoming, unsigned status, std::string_view text) {
    net::HttpHeaders headers = headers_of(kTextType);
    headers.add("X-Content-Type-Options", "nosniff");
    incoming.exchange.respond(status, std::move(headers), fmt::format("{}\n", text));
}

void respond_unavailable(Incoming& incoming) {
    respond_plain(incoming, kServiceUnavailable, "service unavailable");
}

void respond_failure(Incoming& incoming, const Error& error) {
    respond_plain(incoming, kServiceUnavailable,
                  fmt::format("error trying to reach service: {}", error.message()));
}

std::optional<std::size_t> announced_length(const net::HttpHeaders& headers) {
    const auto field = headers.find("Content-Length");
    return field ? parse_number<std::size_t>(*field) : std::nullopt;
}

/// The whole of a small body; nullopt if it broke off.
Task<std::optional<std::string>> read_small(net::HttpBody& body) {
    std::string whole;
    for (;;) {
        Result<std::optional<std::string>> piece = co_await body.read();
        if (!piece) co_return std::nullopt;
        if (!*piece) co_return whole;
        whole += **piece;
    }
}

Task<void> send_pieces(Incoming& incoming, net::HttpBody& body, net::HttpHeaders headers) {
    if (!co_await incoming.exchange.begin(body.head().status, std::move(headers))) co_return;
    for (;;) {
        incoming.exchange.hold_answer(0);  // a watch may say nothing for long
        Result<std::optional<std::string>> piece = co_await body.read();
        if (!piece) co_return;  // cut off, so that clients notice
        if (!*piece) break;
        incoming.works();
        const std::size_t size = (*piece)->size();
        const bool room = incoming.exchange.hold_answer(size < kSmallPart ? 0 : size);
        if (!room || !co_await incoming.exchange.write(**piece)) co_return;  // cut off as well
    }
    std::ignore = co_await incoming.exchange.end();
}

/// Everything that comes from one side, to the other; until one of them ends.
Task<void> carry_bytes(net::ByteStream& from, net::ByteStream& to) {
    std::array<char, kTunnelBuffer> buffer;
    for (;;) {
        const Result<std::size_t> size = co_await from.read_some(asio::buffer(buffer));
        if (!size || *size == 0) co_return;
        if (!co_await to.write(asio::buffer(buffer.data(), *size))) co_return;
    }
}

}  // namespace

class ExtensionProxy::Place {
  public:
    Place(ExtensionProxy& proxy, const apiserver::ServiceName& service)
        : proxy_(proxy), key_(fmt::format("{}/{}", service.namespace_, service.name)) {
        const auto served = proxy_.served_.find(key_);
        const std::size_t present = served == proxy_.served_.end() ? 0 : served->second;
        taken_ = present < kMostOfService && proxy_.all_served_ < kMostOfAll;
        if (!taken_) return;
        ++proxy_.served_[key_];
        ++proxy_.all_served_;
    }
    ~Place() {
        if (!taken_) return;
        --proxy_.all_served_;
        const auto served = proxy_.served_.find(key_);
        if (--served->second == 0) proxy_.served_.erase(served);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool taken() const { return taken_; }

  private:
    ExtensionProxy& proxy_;
    std::string key_;
    bool taken_ = false;
};

std::optional<apiserver::ExtensionServer> extension_server(
    const apiserver::ExtensionServers& extensions, std::string_view path) {
    if (path.starts_with(kOpenApiOfGroups)) {
        const auto* known = extensions.find(path.substr(kOpenApiOfGroups.size()));
        const bool described =
            known != nullptr && known->said != nullptr && !known->said->openapi_url.empty();
        return described ? std::optional(known->server) : std::nullopt;
    }
    const auto* known = extensions.serving(path);
    return known == nullptr ? std::nullopt : std::optional(known->server);
}

void describe_forwarded(RequestRecord& record, const apiserver::ExtensionServer& server,
                        const kube::Request& request, const net::HttpHeaders& headers) {
    record.forwarded = true;
    record.action =
        request.path.starts_with("/apis/")
            ? apiserver::action_on_extension(request.path, request.method, request.query)
            : apiserver::action_on_path(request.path, request.method);
    record.version = server.version;
    record.dry_run = !request.query_value("dryRun").empty();
    record.long_running = is_long_running(record.action) || asks_for_upgrade(headers);
}

Task<apiserver::StatusResult<void>> ExtensionProxy::serve(Incoming& incoming,
                                                          apiserver::ExtensionServer server) {
    const apiserver::StatusResult<void> served;
    if (!server.available) {
        respond_unavailable(incoming);
        co_return served;
    }
    std::optional<Place> place;
    if (!incoming.record().long_running) place.emplace(*this, server.service);
    if (place && !place->taken()) {
        incoming.respond_overload();
        co_return served;
    }
    net::HttpExchange& exchange = incoming.exchange;
    if (exchange.has_more_body() && !co_await exchange.read_body()) co_return served;
    net::HttpRequest& http = exchange.request();
    net::HttpRequest request;
    request.method = http.method;
    request.target = forwarded_target(http.target);
    request.headers = forwarded_headers(http.headers, incoming.user());
    request.body = std::move(http.body);
    Result<apiserver::ExtensionEndpoint> endpoint = co_await handler_.place_of(server);
    incoming.works();
    if (!endpoint || handler_.extension_caller() == nullptr)
        respond_unavailable(incoming);
    else if (asks_for_upgrade(http.headers))
        co_await connect(incoming, *std::move(endpoint), std::move(request));
    else
        co_await pass_on(incoming, *std::move(endpoint), std::move(request));
    co_return served;
}

Task<void> ExtensionProxy::pass_on(Incoming& incoming, apiserver::ExtensionEndpoint endpoint,
                                   net::HttpRequest request) {
    const Duration time = incoming.record().is_resource() ? kForwardTime : kDiscoveryTime;
    const Duration body_time = incoming.record().long_running ? Duration::max() : time;
    const Result<std::unique_ptr<net::HttpBody>> body = co_await handler_.extension_caller()->open(
        std::move(endpoint), std::move(request), time, body_time);
    incoming.works();
    if (!body) co_return respond_failure(incoming, body.error());
    const net::HttpResponse& head = (*body)->head();
    if (head.status < kOkay || head.status > kLastStatus)
        co_return respond_plain(
            incoming, kBadGateway,
            fmt::format("the backend answered with the status {}", head.status));
    if (head.status >= kRedirects && head.status < kClientErrors &&
        head.headers.contains("Location")) {
        incoming.exchange.respond(
            kBadGateway, {},
            std::string("the backend attempted to redirect this request, which is not permitted"));
        co_return;
    }
    net::HttpHeaders headers = returned_headers(head.headers);
    const std::optional<std::size_t> length = announced_length(head.headers);
    const bool empty = head.status == kNoContent || head.status == kNotModified || length == 0;
    if (!empty && (!length || *length > kSmallAnswer))
        co_return co_await send_pieces(incoming, **body, std::move(headers));
    std::optional<std::string> whole;
    if (empty)
        whole.emplace();
    else
        whole = co_await read_small(**body);
    if (!whole) co_return respond_failure(incoming, Error(Code::kUnavailable, "unexpected EOF"));
    incoming.exchange.respond(head.status, std::move(headers), *std::move(whole));
}

Task<void> ExtensionProxy::connect(Incoming& incoming, apiserver::ExtensionEndpoint endpoint,
                                   net::HttpRequest request) {
    const net::HttpHeaders& sent = incoming.exchange.request().headers;
    request.headers.add("Connection", "Upgrade");
    request.headers.add("Upgrade", sent.find("Upgrade").value_or(""));
    Result<net::HttpUpgrade> upgraded = co_await handler_.extension_caller()->upgrade(
        std::move(endpoint), std::move(request), kForwardTime);
    if (!upgraded) co_return respond_failure(incoming, upgraded.error());
    const net::HttpResponse& answer = upgraded->response;
    net::HttpHeaders headers = returned_headers(answer.headers);
    if (upgraded->stream == nullptr) {
        const bool fits = answer.status >= kOkay && answer.status <= kLastStatus;
        incoming.exchange.respond(fits ? answer.status : kBadGateway, std::move(headers),
                                  answer.body);
        co_return;
    }
    headers.add("Connection", "Upgrade");
    headers.add("Upgrade", answer.headers.find("Upgrade").value_or(""));
    const auto client = co_await incoming.exchange.upgrade(std::move(headers));
    if (!client) co_return;
    co_await first_of(carry_bytes(**client, *upgraded->stream),
                      carry_bytes(*upgraded->stream, **client));
    // What was written last is on its way; the other end of each is told.
    std::ignore = co_await (*client)->shut_down_write();
}

}  // namespace muster::apiserver_http
