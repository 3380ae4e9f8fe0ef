#include "control_plane/internal/extension_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time/restarting_task.h"
#include "net/forwarding_stream.h"

namespace muster::control_plane {

namespace {

constexpr std::size_t kMostContexts = 16;
/// Of the answer to a request for an upgrade that was refused.
constexpr std::size_t kLargestRefusal = std::size_t{1024} * 1024;

/// What the client says of a failure, without the request, which is known to whoever reads it.
Error call_failure(const net::HttpRequest& request, const Error& error) {
    const std::string prefix = fmt::format("{} {}: ", request.method, request.target);
    const std::string& message = error.message();
    return {error.code() == Code::kNotFound ? Code::kUnavailable : error.code(),
            message.starts_with(prefix) ? message.substr(prefix.size()) : message};
}

}  // namespace

/// One request. Its connection is closed when it ends.
struct ExtensionClient::Call {
    Call(const asio::any_io_executor& executor, Clock& clock, Tls context,
         net::HttpConnector connect, std::string host)
        : tls(std::move(context)),
          client(executor, clock, std::move(connect),
                 {.host = std::move(host), .idle_connections = 0, .body_bytes = kLargestRefusal}) {}

    Tls tls;
    net::HttpClient client;
};

/// Keeps a call until whoever made it has its result, however that ends.
class ExtensionClient::Held {
  public:
    Held(ExtensionClient& owner, std::shared_ptr<Call> call)
        : owner_(&owner), call_(std::move(call)) {}
    Held(Held&& other) noexcept
        : owner_(other.owner_), call_(std::exchange(other.call_, nullptr)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
        if (call_ == nullptr) return;
        spawn_restarting(owner_->tasks_, owner_->clock_, "end of a call of an API server",
                         [owner = owner_, call = call_] { return owner->finish(call); });
    }

    net::HttpClient& client() { return call_->client; }
    const Tls& tls() const { return call_->tls; }

  private:
    ExtensionClient* owner_;
    std::shared_ptr<Call> call_;
};

class ExtensionClient::Body final : public net::HttpBody {
  public:
    Body(Held held, std::unique_ptr<net::HttpBody> body)
        : held_(std::move(held)), body_(std::move(body)) {}

    const net::HttpResponse& head() const override { return body_->head(); }
    Task<Result<std::optional<std::string>>> read() override { return body_->read(); }
    bool gather() override { return body_->gather(); }

  private:
    Held held_;  // ends after the body
    std::unique_ptr<net::HttpBody> body_;
};

/// A base, so that it is destroyed after the stream.
struct ExtensionClient::KeepsTls {
    Tls tls;
};

/// A connection that has left its client, with what its encryption needs.
class ExtensionClient::Stream final : private KeepsTls, public net::ForwardingStream {
  public:
    Stream(Tls context, std::unique_ptr<net::ByteStream> below)
        : KeepsTls{std::move(context)}, net::ForwardingStream(std::move(below)) {}
};

ExtensionClient::ExtensionClient(asio::any_io_executor executor, Clock& clock, net::KeyPair shown,
                                 EndpointDial::ConnectToPod connect_to_pod)
    : executor_(std::move(executor)),
      clock_(clock),
      shown_(std::move(shown)),
      dial_(executor_, std::move(connect_to_pod)),
      tasks_(executor_),
      ended_(executor_) {}

Result<ExtensionClient::Tls> ExtensionClient::context_of(
    const apiserver::ExtensionEndpoint& endpoint) {
    const std::string& ca_pem = endpoint.where.ca_pem;
    const auto known = std::ranges::find_if(contexts_, [&](const Context& each) {
        return each.insecure == endpoint.insecure && each.ca_pem == ca_pem;
    });
    if (known != contexts_.end()) {
        contexts_.splice(contexts_.begin(), contexts_, known);
        return contexts_.front().tls;
    }
    const net::Trust trust = endpoint.insecure ? net::Trust::kAnyone
                             : ca_pem.empty()  ? net::Trust::kSystem
                                               : net::Trust::kGiven;
    TRY(auto made, net::TlsClientContext::create(clock_, {.ca_pem = ca_pem,
                                                          .trust = trust,
                                                          .certificate_pem = shown_.certificate,
                                                          .key_pem = shown_.key}));
    contexts_.push_front({ca_pem, endpoint.insecure, Tls(std::move(made))});
    if (contexts_.size() > kMostContexts) contexts_.pop_back();
    return contexts_.front().tls;
}

Result<std::shared_ptr<ExtensionClient::Call>> ExtensionClient::begin(
    const apiserver::ExtensionEndpoint& endpoint) {
    if (stopping_) return Error(Code::kCancelled, "the server stops");
    TRY(Tls tls, context_of(endpoint));
    const apiserver::WebhookEndpoint& where = endpoint.where;
    const apiserver::NetworkPort to =
        where.place ? *where.place : apiserver::NetworkPort{where.host, where.port};
    net::HttpConnector connect = dial_.connector(where.pod, to, where.host, tls.get());
    calls_.push_back(std::make_shared<Call>(executor_, clock_, std::move(tls), std::move(connect),
                                            where.authority()));
    return calls_.back();
}

Task<void> ExtensionClient::finish(std::shared_ptr<Call> call) {
    co_await call->client.stop();
    std::erase(calls_, call);
    ended_.notify_all();
}

Task<Result<std::unique_ptr<net::HttpBody>>> ExtensionClient::open(
    apiserver::ExtensionEndpoint endpoint, net::HttpRequest request, Duration time,
    Duration body_time) {
    CO_TRY(std::shared_ptr<Call> call, begin(endpoint));
    Held held(*this, std::move(call));
    Result<std::unique_ptr<net::HttpBody>> body =
        co_await held.client().stream(request, time, body_time);
    if (!body) co_return call_failure(request, body.error());
    co_return std::make_unique<Body>(std::move(held), *std::move(body));
}

Task<Result<net::HttpUpgrade>> ExtensionClient::upgrade(apiserver::ExtensionEndpoint endpoint,
                                                        net::HttpRequest request, Duration time) {
    CO_TRY(std::shared_ptr<Call> call, begin(endpoint));
    Held held(*this, std::move(call));
    Result<net::HttpUpgrade> upgraded = co_await held.client().upgrade(request, time);
    if (!upgraded) co_return call_failure(request, upgraded.error());
    if (upgraded->stream != nullptr)
        upgraded->stream = std::make_unique<Stream>(held.tls(), std::move(upgraded->stream));
    co_return upgraded;
}

Task<void> ExtensionClient::stop() {
    stopping_ = true;
    // Whoever waits for one of these learns that it has ended, and lets go of it.
    for (const std::shared_ptr<Call>& call : std::list<std::shared_ptr<Call>>(calls_))
        co_await call->client.stop();
    while (!calls_.empty()) co_await ended_.wait();
    co_await tasks_.join();
    co_await dial_.stop();
}

}  // namespace muster::control_plane
