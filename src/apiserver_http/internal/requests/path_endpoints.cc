#include "apiserver_http/internal/requests/path_endpoints.h"

#include <algorithm>

#include "apiserver_http/internal/discovery/issuer_documents.h"
#include "apiserver_http/internal/wire/answer_headers.h"

namespace muster::apiserver_http {

void PathEndpoints::respond_health(Incoming& incoming) const {
    const std::string& path = incoming.request.path;
    const std::optional<Error> failure = handler_.write_failure();
    const bool fails = failure && path != "/livez";
    std::string text = fails ? "the store keeps nothing new: " + failure->message() : "ok";
    if (std::ranges::any_of(incoming.request.query,
                            [](const auto& pair) { return pair.first == "verbose"; }))
        text = fmt::format("[+]ping ok\n[{}]store {}\n{} check {}\n", fails ? '-' : '+', text,
                           path.substr(1), fails ? "failed" : "passed");
    incoming.exchange.respond(fails ? 500 : 200, headers_of(kTextType), std::move(text));
}

void PathEndpoints::respond_document(Incoming& incoming, const Document& document) {
    net::HttpHeaders headers;
    headers.add("Content-Type", document.content_type);
    headers.add("Vary", "Accept");
    headers.add("Cache-Control", document.forever ? "public, immutable" : "no-cache, private");
    if (!document.etag.empty()) headers.add("ETag", document.etag);
    const bool known = !document.etag.empty() && incoming.header("If-None-Match") == document.etag;
    if (known)
        incoming.exchange.respond(304, std::move(headers), std::string());
    else if (incoming.accepted.yaml)
        incoming.respond(200, std::move(headers), document.value());
    else
        incoming.exchange.respond(200, std::move(headers), document.text);
}

apiserver::StatusResult<void> PathEndpoints::serve(Incoming& incoming,
                                                   apiserver::StatusError unknown) {
    const std::string& path = incoming.request.path;
    const bool get = incoming.request.method == kube::Method::kGet;
    TRY_VOID(access_.authorize(incoming.record()));
    if (path == "/healthz" || path == "/livez" || path == "/readyz") {
        respond_health(incoming);
        return {};
    }
    if (path == "/metrics") {
        if (!get) return apiserver::method_not_allowed();
        incoming.exchange.respond(200, headers_of("text/plain; version=0.0.4; charset=utf-8"),
                                  accounts_.metrics().text(metrics_));
        return {};
    }
    if (const auto text = issuer_document(handler_.signing_key(), path)) {
        if (!get) return apiserver::method_not_allowed();
        net::HttpHeaders headers;
        headers.add("Content-Type", text->content_type);
        headers.add("Cache-Control", "public, max-age=3600");
        incoming.exchange.respond(200, std::move(headers), text->text);
        return {};
    }
    const std::optional<Document> document =
        documents_.find(path, incoming.accepted.form, incoming.request.query_value("hash"));
    if (!document) return unknown;
    if (!get) return apiserver::method_not_allowed();
    respond_document(incoming, *document);
    return {};
}

}  // namespace muster::apiserver_http
