#include "apiserver/internal/webhooks/webhook_client_config.h"

#include "apiserver/internal/webhooks/webhook_url.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/metadata_words.h"
#include "kube/values/base64.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kHttps = 443;
constexpr std::int64_t kMaxPort = 65535;
/// Each wrong segment is an error that quotes the whole path.
constexpr std::size_t kLongestPath = 2048;

void check_path(std::string_view path, const std::string& field, FieldErrors& field_errors) {
    if (path.empty() || path == "/") return;
    const auto refuse = [&](std::string_view why) {
        field_errors.push_back(invalid_value(field, json::value(path), why));
    };
    if (path.size() > kLongestPath) {
        field_errors.push_back(too_long(field, kLongestPath));
        return;
    }
    if (path == "//") return refuse("segment[0] may not be empty");
    if (!path.starts_with('/')) refuse("must start with a '/'");
    std::string_view steps = path.substr(1);
    if (steps.ends_with('/')) steps.remove_suffix(1);
    std::size_t index = 0;
    for (std::size_t begin = 0; begin <= steps.size(); ++index) {
        const std::size_t end = std::min(steps.find('/', begin), steps.size());
        const std::string_view step = steps.substr(begin, end - begin);
        begin = end + 1;
        if (step.empty())
            refuse(fmt::format("segment[{}] may not be empty", index));
        else if (!kube::is_dns1123_subdomain(step))
            refuse(fmt::format("segment[{}]: {}", index, kDnsSubdomainMessage));
    }
}

void check_service(const json::object& service, const std::string& field,
                   FieldErrors& field_errors) {
    if (string_at(service, "name").empty())
        field_errors.push_back(required(field + ".name", "service name is required"));
    if (string_at(service, "namespace").empty())
        field_errors.push_back(required(field + ".namespace", "service namespace is required"));
    const std::int64_t port = int_at(service, "port").value_or(kHttps);
    if (port < 1 || port > kMaxPort)
        field_errors.push_back(invalid_value(field + ".port", json::value(port),
                                             "port is not valid: must be between 1 and 65535, "
                                             "inclusive"));
    check_path(string_at(service, "path"), field + ".path", field_errors);
}

}  // namespace

WebhookEndpoint endpoint_of(const json::object& config) {
    WebhookEndpoint endpoint;
    endpoint.ca_pem = kube::base64_decode(string_at(config, "caBundle")).value_or("");
    if (const json::object* service = object_at(config, "service")) {
        endpoint.service = ServiceName{std::string(string_at(*service, "namespace")),
                                       std::string(string_at(*service, "name"))};
        endpoint.host =
            fmt::format("{}.{}.svc", string_at(*service, "name"), string_at(*service, "namespace"));
        endpoint.port = static_cast<std::uint16_t>(int_at(*service, "port").value_or(kHttps));
        endpoint.path = request_path(string_at(*service, "path")).value_or("/");
        return endpoint;
    }
    if (auto url = parse_webhook_url(string_at(config, "url"), "")) {
        endpoint.host = std::move(url->host);
        endpoint.port = url->port;
        endpoint.path = std::move(url->path);
    }
    return endpoint;
}

void check_client_config(const json::object& config, const std::string& field,
                         FieldErrors& field_errors) {
    const json::object* service = object_at(config, "service");
    const json::value* url = config.if_contains("url");
    const bool has_url = url != nullptr && url->is_string();
    if (has_url == (service != nullptr)) {
        field_errors.push_back(required(field, "exactly one of url or service is required"));
    } else if (service != nullptr) {
        check_service(*service, field + ".service", field_errors);
    } else if (auto parsed = parse_webhook_url(url->get_string(), field + ".url"); !parsed) {
        field_errors.push_back(std::move(parsed.error()));
    }
}

}  // namespace muster::apiserver
