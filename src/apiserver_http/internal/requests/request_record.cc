#include "apiserver_http/internal/requests/request_record.h"

#include <algorithm>
#include <utility>

#include "apiserver/requests/request_options.h"

namespace muster::apiserver_http {

bool RequestRecord::is_read_only() const {
    return action.verb == "get" || action.verb == "list" || action.verb == "watch";
}

void describe_request(RequestRecord& record, const apiserver::Target& target,
                      const kube::Request& request) {
    const bool watch = request.method == kube::Method::kGet && target.is_collection() &&
                       apiserver::query_flag(request, "watch");
    record.action =
        apiserver::action_on(target, request.method, watch, request.query_value("fieldSelector"));
    record.version = target.type().version;
    record.kind = target.type().kind;
    record.dry_run = !request.query_value("dryRun").empty();
    record.long_running = is_long_running(record.action);
}

bool is_long_running(const apiserver::Action& action) {
    return action.verb == "watch" || action.subresource == "log" ||
           apiserver::is_connection(action.subresource);
}

std::string_view metric_verb(const RequestRecord& record) {
    if (apiserver::is_connection(record.action.subresource)) return "CONNECT";
    if (record.apply) return "APPLY";
    constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
        {"get", "GET"},       {"list", "LIST"},
        {"watch", "WATCH"},   {"create", "POST"},
        {"post", "POST"},     {"update", "PUT"},
        {"put", "PUT"},       {"patch", "PATCH"},
        {"delete", "DELETE"}, {"deletecollection", "DELETECOLLECTION"}};
    for (const auto& [verb, label] : kVerbs)
        if (record.action.verb == verb) return label;
    return "OTHER";
}

std::string_view metric_scope(const RequestRecord& record) {
    if (!record.is_resource()) return "";
    if (!record.action.name.empty() || record.action.verb == "create") return "resource";
    return record.action.namespace_.empty() ? "cluster" : "namespace";
}

std::string_view metric_resource(const RequestRecord& record) {
    return record.forwarded ? std::string_view() : std::string_view(record.action.resource);
}

std::string_view metric_subresource(const RequestRecord& record) {
    if (record.forwarded && record.is_resource()) return "";
    if (record.is_resource()) return record.action.subresource;
    constexpr std::string_view kServed[] = {
        "/healthz",    "/livez",       "/readyz", "/metrics", "/version", "/openapi/v2",
        "/openapi/v3", "/.well-known", "/openid", "/apis",    "/api"};
    const auto* found = std::ranges::find_if(
        kServed, [&](std::string_view path) { return record.action.path.starts_with(path); });
    return found == std::end(kServed) ? "" : *found;
}

}  // namespace muster::apiserver_http
