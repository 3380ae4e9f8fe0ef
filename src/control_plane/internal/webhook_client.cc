#include "control_plane/internal/webhook_client.h"

#include "manifest/read_files.h"
#include "net/http/http_client.h"

namespace muster::control_plane {

namespace {

/// The CAs that Debian trusts.
constexpr const char* kSystemRoots = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::size_t kMaxAnswer = std::size_t{8} * 1024 * 1024;
constexpr unsigned kOk = 200;

/// The pod must prove that it is the service `host`.
net::HttpConnector pod_connector(WebhookClient::ConnectToPod connect, apiserver::PodPort pod,
                                 std::string host, net::TlsClientContext& tls) {
    return [connect = std::move(connect), pod = std::move(pod), host = std::move(host),
            &tls]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
        // The lambda may go before its coroutine: what the coroutine needs is copied here.
        return
            [](WebhookClient::ConnectToPod open, apiserver::PodPort to, std::string name,
               net::TlsClientContext* context) -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                CO_TRY(auto stream, co_await open(std::move(to)));
                CO_TRY(auto session, co_await context->connect(std::move(stream), std::move(name)));
                co_return std::move(session);
            }(connect, pod, host, &tls);
    };
}

}  // namespace

Task<Result<std::string>> WebhookClient::post(apiserver::WebhookEndpoint endpoint, std::string body,
                                              Duration time) {
    if (endpoint.ca_pem.empty()) {
        CO_TRY(endpoint.ca_pem, manifest::read_file(kSystemRoots));
    }
    CO_TRY(const auto tls,
           net::TlsClientContext::create(clock_, {.ca_pem = std::move(endpoint.ca_pem)}));
    const std::string host =
        endpoint.port == 443 ? endpoint.host : fmt::format("{}:{}", endpoint.host, endpoint.port);
    net::HttpConnector connector =
        endpoint.pod ? pod_connector(connect_to_pod_, *endpoint.pod, endpoint.host, *tls)
                     : net::tcp_connector(executor_, endpoint.host, endpoint.port, tls.get());
    net::HttpClient client(executor_, clock_, std::move(connector),
                           {.host = host, .idle_connections = 0, .body_bytes = kMaxAnswer});
    net::HttpRequest request;
    request.method = "POST";
    request.target = endpoint.path;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.body = std::move(body);
    Result<net::HttpResponse> answer = co_await client.call(std::move(request), time);
    co_await client.stop();
    if (!answer)
        co_return Error(answer.error().code(),
                        fmt::format("Post \"https://{}{}\": {}", host, endpoint.path,
                                    answer.error().message()));
    if (answer->status != kOk)
        co_return Error(Code::kUnavailable, fmt::format("the server at https://{}{} answered {}",
                                                        host, endpoint.path, answer->status));
    co_return std::move(answer->body);
}

}  // namespace muster::control_plane
