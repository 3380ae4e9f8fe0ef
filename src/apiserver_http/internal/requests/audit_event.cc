#include "apiserver_http/internal/requests/audit_event.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "apiserver/authentication/user_info.h"
#include "apiserver_http/internal/json_access.h"
#include "base/utf8.h"
#include "kube/values/time.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

/// Whether its bodies and messages may contain secrets.
bool is_secret(const apiserver::Action& action) {
    return action.resource == "secrets" || action.resource == "tokenreviews" ||
           action.subresource == "token";
}

/// "127.0.0.1:1234" -> "127.0.0.1", "[::1]:1234" -> "::1".
std::string_view host_of(std::string_view address) {
    if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
    return address.substr(0, address.find(':'));
}

json::object reference(const RequestRecord& record) {
    json::object made{{"resource", record.action.resource}};
    const auto add = [&](std::string_view key, std::string_view value) {
        if (!value.empty()) made[key] = value;
    };
    add("namespace", record.action.namespace_);
    std::string_view name = record.action.name;
    const json::object* written =
        record.request_object == nullptr ? nullptr : record.request_object->if_object();
    // Only the body has the name of a new object.
    if (name.empty() && written != nullptr && record.action.verb == "create")
        name = name_of(*written);
    add("name", name);
    add("apiGroup", record.action.group);
    add("apiVersion", record.version);
    add("subresource", record.action.subresource);
    return made;
}

json::object response_status(const RequestRecord& record, unsigned status) {
    json::object made{{"metadata", json::object()}, {"code", status}};
    const json::object* answer =
        record.response_object == nullptr ? nullptr : record.response_object->if_object();
    if (answer == nullptr || string_at(*answer, "kind") != "Status") return made;
    for (const char* key : {"status", "reason", "message"}) {
        // A message may quote what was sent.
        if (key == std::string_view("message") && is_secret(record.action)) continue;
        if (const std::string_view value = string_at(*answer, key); !value.empty())
            made[key] = value;
    }
    return made;
}

std::string_view level_name(AuditLevel level) {
    switch (level) {
        case AuditLevel::kMetadata:
            return "Metadata";
        case AuditLevel::kRequest:
            return "Request";
        case AuditLevel::kRequestResponse:
            return "RequestResponse";
    }
    return "Metadata";
}

}  // namespace

std::string audit_line(AuditLevel level, AuditStage stage, std::string_view id,
                       const net::HttpRequest& http, const RequestRecord& record,
                       std::optional<unsigned> status, WallTime now) {
    if (!record.is_resource() || is_secret(record.action)) level = AuditLevel::kMetadata;
    json::object event{
        {"kind", "Event"},
        {"apiVersion", "audit.k8s.io/v1"},
        {"level", level_name(level)},
        {"auditID", id},
        {"stage", stage == AuditStage::kRequestReceived ? "RequestReceived" : "ResponseComplete"},
        {"requestURI", http.target},
        {"verb", record.action.verb},
        {"user", apiserver::user_info(record.user)}};
    if (record.acting_as) event["impersonatedUser"] = apiserver::user_info(*record.acting_as);
    event["sourceIPs"] = json::array{host_of(http.peer_address)};
    if (const auto agent = http.headers.find("User-Agent")) event["userAgent"] = *agent;
    if (record.is_resource()) event["objectRef"] = reference(record);
    if (status) event["responseStatus"] = response_status(record, *status);
    if (level != AuditLevel::kMetadata && record.request_object != nullptr)
        event["requestObject"] = *record.request_object;
    if (level == AuditLevel::kRequestResponse && record.response_object != nullptr)
        event["responseObject"] = *record.response_object;
    if (level == AuditLevel::kRequestResponse && record.response_text != nullptr)
        event["responseObject"] = *record.response_text->tree();
    event["requestReceivedTimestamp"] = kube::format_micro_time(record.received);
    event["stageTimestamp"] = kube::format_micro_time(now);
    json::object& annotations = event["annotations"].emplace_object();
    if (record.decision) {
        annotations["authorization.k8s.io/decision"] =
            record.decision->allowed ? "allow" : "forbid";
        annotations["authorization.k8s.io/reason"] = record.decision->reason;
    }
    if (record.annotations != nullptr)
        // None takes the place of those above: a policy may have any name.
        for (const auto& [key, value] : *record.annotations) annotations.emplace(key, value);
    std::string line;
    store::append_json(line, event);
    // Requests that were refused for such bytes are logged, too.
    return is_utf8(line) ? line : as_utf8(line);
}

}  // namespace muster::apiserver_http
