#pragma once

#include <optional>
#include <string>

#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"
#include "apiserver_http/internal/requests/request_accounts.h"
#include "apiserver_http/internal/wire/media_type.h"
#include "apiserver_http/yaml_text.h"
#include "net/http/http_server.h"

namespace muster::apiserver_http {

/// One request, with what is known of it before anything is done about it, and the ways to answer
/// it that all paths share.
struct Incoming {
    net::HttpExchange& exchange;
    RequestAccounts::Entry& entry;
    const YamlText& yaml;
    kube::Request request = {};  ///< its body is read once the user may send it
    AcceptedForm accepted = {};
    /// The target of the URL, once the request may be refused for it.
    std::optional<apiserver::Target> named = {};

    RequestRecord& record() { return entry.record; }
    const apiserver::User& user() const { return entry.record.served_user(); }
    std::string_view header(std::string_view name) const {
        return exchange.request().headers.find(name).value_or(std::string_view());
    }

    /// Says that the loop works for this request; to be called after each wait.
    void works() const;

    /// In YAML, if that was requested.
    void respond(int status, net::HttpHeaders headers, const json::value& value);
    /// In the form that was requested.
    void respond_text(int status, net::HttpHeaders headers, std::string text);
    void refuse(const apiserver::StatusError& error);
    void respond_not_acceptable();
    /// Answers that too many requests are being served.
    void respond_overload();
};

}  // namespace muster::apiserver_http
