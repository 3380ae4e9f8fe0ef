#include "cli/internal/up/webhook_client.h"

#include "cli/read_file.h"
#include "net/http_client.h"

namespace muster::cli {

namespace {

/// Whom Debian trusts.
constexpr const char* kSystemRoots = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::size_t kMaxAnswer = std::size_t{8} * 1024 * 1024;
constexpr unsigned kOk = 200;

}  // namespace

Task<Result<std::string>> WebhookClient::post(apiserver::WebhookEndpoint endpoint, std::string body,
                                              Duration time) {
    if (endpoint.service)
        co_return Error(Code::kUnsupported,
                        fmt::format("{} is a service, and muster reaches services from pods only: "
                                    "name the webhook by clientConfig.url",
                                    endpoint.host));
    if (endpoint.ca_pem.empty()) {
        CO_TRY(endpoint.ca_pem, read_file(kSystemRoots));
    }
    CO_TRY(const auto tls,
           net::TlsClientContext::create(clock_, {.ca_pem = std::move(endpoint.ca_pem)}));
    const std::string host =
        endpoint.port == 443 ? endpoint.host : fmt::format("{}:{}", endpoint.host, endpoint.port);
    net::HttpClient client(executor_, clock_,
                           net::tcp_connector(executor_, endpoint.host, endpoint.port, tls.get()),
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

}  // namespace muster::cli
