#include "apiserver_http/internal/requests/path_endpoints.h"

#include <algorithm>

#include "apiserver_http/internal/discovery/issuer_documents.h"
#include "apiserver_http/internal/wire/answer_headers.h"

namespace muster::apiserver_http {

namespace {

std::string_view cache_control(Document::Caching caching) {
    switch (caching) {
        case Document::Caching::kForever:
            return "public, immutable";
        case Document::Caching::kShared:
            return "public";
        case Document::Caching::kAsked:
            break;
    }
    return "no-cache, private";
}

}  // namespace

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

Task<void> PathEndpoints::respond_document(Incoming& incoming, Document document) const {
    net::HttpHeaders headers;
    headers.add("Content-Type", document.content_type);
    headers.add("Vary", "Accept");
    headers.add("Cache-Control", cache_control(document.caching));
    if (!document.etag.empty()) headers.add("ETag", document.etag);
    const bool known = !document.etag.empty() && incoming.header("If-None-Match") == document.etag;
    if (known) {
        incoming.exchange.respond(304, std::move(headers), std::string());
        co_return;
    }
    if (!incoming.accepted.yaml) {
        incoming.exchange.respond(200, std::move(headers), document.text);
        co_return;
    }
    std::string text = co_await compute_beside(
        side_thread_, "write a document as YAML", document.text->size(),
        [write = incoming.yaml.write, value = document.value] { return write(value()); });
    incoming.works();
    headers.set("Content-Type", kYamlType);
    incoming.respond_text(200, std::move(headers), std::move(text));
}

Task<apiserver::StatusResult<void>> PathEndpoints::serve(Incoming& incoming,
                                                         apiserver::StatusError unknown) {
    const apiserver::StatusResult<void> served;
    const std::string& path = incoming.request.path;
    const bool get = incoming.request.method == kube::Method::kGet;
    CO_TRY_VOID(access_.authorize(incoming.record()));
    if (path == "/healthz" || path == "/livez" || path == "/readyz") {
        respond_health(incoming);
        co_return served;
    }
    if (path == "/metrics") {
        if (!get) co_return apiserver::method_not_allowed();
        incoming.exchange.respond(200, headers_of("text/plain; version=0.0.4; charset=utf-8"),
                                  accounts_.metrics().text(metrics_));
        co_return served;
    }
    if (const auto text = issuer_document(handler_.signing_key(), handler_.token_rules(), path)) {
        if (!get) co_return apiserver::method_not_allowed();
        net::HttpHeaders headers;
        headers.add("Content-Type", text->content_type);
        headers.add("Cache-Control", "public, max-age=3600");
        incoming.exchange.respond(200, std::move(headers), text->text);
        co_return served;
    }
    co_await documents_.prepare(path, side_thread_);
    incoming.works();
    std::optional<Document> document =
        documents_.find(path, incoming.accepted.form, incoming.request.query_value("hash"));
    if (!document) co_return unknown;
    if (!get) co_return apiserver::method_not_allowed();
    co_await respond_document(incoming, *std::move(document));
    co_return served;
}

}  // namespace muster::apiserver_http
