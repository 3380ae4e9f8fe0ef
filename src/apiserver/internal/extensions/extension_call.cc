#include "apiserver/internal/extensions/extension_call.h"

#include "apiserver/internal/webhooks/service_place.h"

namespace muster::apiserver {

Task<Result<ExtensionEndpoint>> endpoint_of(ServerState& state, ExtensionServer server) {
    WebhookEndpoint where;
    where.host = fmt::format("{}.{}.svc", server.service.name, server.service.namespace_);
    where.port = server.port;
    where.ca_pem = server.ca_pem;
    where.service = server.service;
    CO_TRY(where, co_await with_place(state, std::move(where)));
    co_return ExtensionEndpoint{std::move(where), server.insecure};
}

std::string url_of(const ExtensionEndpoint& endpoint, const std::string& path) {
    const WebhookEndpoint& where = endpoint.where;
    if (where.place)
        return fmt::format("https://{}:{}{}", where.place->host, where.place->number, path);
    return fmt::format("https://{}{}", where.authority(), path);
}

Task<Result<net::HttpResponse>> ask_extension(ServerState& state, ExtensionEndpoint endpoint,
                                              std::string path, std::size_t most, Duration time,
                                              std::string method) {
    if (state.extension_caller == nullptr)
        co_return Error(Code::kUnsupported, "this server does not call others");
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(path);
    request.headers = {{"User-Agent", "kube-aggregator"},
                       {"Accept", "application/json"},
                       {"X-Remote-User", "system:kube-aggregator"},
                       {"X-Remote-Group", kMasters}};
    CO_TRY(
        const std::unique_ptr<net::HttpBody> body,
        co_await state.extension_caller->open(std::move(endpoint), std::move(request), time, time));
    net::HttpResponse answer{body->head().status, {}, {}};
    while (answer.body.size() < most) {
        Result<std::optional<std::string>> piece = co_await body->read();
        if (!piece) co_return piece.error();
        if (!*piece) co_return answer;
        answer.body += **piece;
    }
    if (most == 0) co_return answer;
    co_return Error(Code::kTooLarge, fmt::format("the answer has more than {} bytes", most));
}

Task<Result<net::HttpResponse>> ask_extension(ServerState& state, ExtensionServer server,
                                              std::string path, std::size_t most, Duration time,
                                              std::string method) {
    CO_TRY(ExtensionEndpoint endpoint, co_await endpoint_of(state, server));
    co_return co_await ask_extension(state, std::move(endpoint), std::move(path), most, time,
                                     std::move(method));
}

}  // namespace muster::apiserver
