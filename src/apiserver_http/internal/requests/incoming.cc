#include "apiserver_http/internal/requests/incoming.h"

#include "apiserver_http/internal/wire/answer_headers.h"
#include "base/time/loop_watch.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

void Incoming::works() const { works_for(exchange.request().method, exchange.request().path()); }

void Incoming::respond(int status, net::HttpHeaders headers, const json::value& value) {
    std::string text;
    if (accepted.yaml) {
        headers.set("Content-Type", kYamlType);
        text = yaml.write(value);
    } else {
        store::append_json(text, value);
    }
    exchange.respond(static_cast<unsigned>(status), std::move(headers), std::move(text));
}

void Incoming::respond_text(int status, net::HttpHeaders headers, std::string text) {
    exchange.respond(static_cast<unsigned>(status), std::move(headers), std::move(text));
}

void Incoming::respond_not_acceptable() {
    constexpr int kNotAcceptable = 406;
    respond(kNotAcceptable, headers_of(kJsonType),
            json::object{{"kind", "Status"},
                         {"apiVersion", "v1"},
                         {"metadata", json::object{}},
                         {"status", "Failure"},
                         {"message",
                          "only the following media types are accepted: application/json, "
                          "application/yaml"},
                         {"reason", "NotAcceptable"},
                         {"code", kNotAcceptable}});
}

void Incoming::refuse(const apiserver::StatusError& error) {
    const bool plain = error.plain_text;
    const kube::Response response =
        apiserver::to_response(error, named ? &named->type() : nullptr, named ? named->name : "");
    net::HttpHeaders headers = headers_of(plain ? kTextType : kJsonType);
    add_retry_after(headers, response);
    record().response_object = response.body;
    if (plain) {
        exchange.respond(static_cast<unsigned>(response.status), std::move(headers),
                         error.error.message());
        return;
    }
    respond(response.status, std::move(headers), *response.body);
}

void Incoming::respond_overload() {
    net::HttpHeaders headers = headers_of(kTextType);
    headers.add("Retry-After", "1");
    exchange.respond(429, std::move(headers), "Too many requests, please try again later.\n");
}

}  // namespace muster::apiserver_http
