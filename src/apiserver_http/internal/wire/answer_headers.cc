#include "apiserver_http/internal/wire/answer_headers.h"

#include "apiserver_http/internal/json_access.h"

namespace muster::apiserver_http {

namespace {

/// A header's value may not have an unescaped quotation mark or a control character.
std::string quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += (c >= 0 && c < ' ') || c == 0x7f ? ' ' : c;
    }
    quoted += '"';
    return quoted;
}

}  // namespace

net::HttpHeaders headers_of(std::string_view content_type) {
    net::HttpHeaders headers;
    headers.add("Content-Type", content_type);
    headers.add("Cache-Control", "no-cache, private");
    return headers;
}

void add_warnings(net::HttpHeaders& headers, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) headers.add("Warning", "299 - " + quoted(warning));
}

void add_retry_after(net::HttpHeaders& headers, const kube::Response& response) {
    const json::object* status = response.body->if_object();
    const json::object* details = status == nullptr ? nullptr : object_at(*status, "details");
    if (details == nullptr) return;
    if (const auto seconds = int_at(*details, "retryAfterSeconds"))
        headers.add("Retry-After", std::to_string(*seconds));
}

}  // namespace muster::apiserver_http
