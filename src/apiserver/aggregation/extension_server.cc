#include "apiserver/aggregation/extension_server.h"

#include <fmt/format.h>

#include "apiserver/objects/json_access.h"
#include "kube/values/base64.h"

namespace muster::apiserver {

const kube::ResourceType kApiServices{"apiregistration.k8s.io", "v1", "apiservices", "APIService",
                                      /*namespaced=*/false};

namespace {

constexpr std::int64_t kUsualExtensionPort = 443;
constexpr std::int64_t kLastPort = 65535;

bool says_available(const json::object& api_service) {
    for (const json::object* condition : objects_at(child(api_service, "status"), "conditions"))
        if (string_at(*condition, "type") == "Available")
            return string_at(*condition, "status") == "True";
    return false;
}

}  // namespace

std::optional<ExtensionServer> extension_server_of(const json::object& api_service) {
    const json::object& spec = child(api_service, "spec");
    const json::object* service = object_at(spec, "service");
    const std::string group(string_at(spec, "group"));
    if (service == nullptr || group.empty() || group == kApiServices.group) return std::nullopt;
    ExtensionServer server;
    server.name = name_of(api_service);
    server.group = group;
    server.version = string_at(spec, "version");
    server.service = {std::string(string_at(*service, "namespace")),
                      std::string(string_at(*service, "name"))};
    const std::int64_t port = int_at(*service, "port").value_or(kUsualExtensionPort);
    server.port =
        static_cast<std::uint16_t>(port > 0 && port <= kLastPort ? port : kUsualExtensionPort);
    server.ca_pem = kube::base64_decode(string_at(spec, "caBundle")).value_or("");
    server.insecure = bool_at(spec, "insecureSkipTLSVerify");
    server.group_priority = int_at(spec, "groupPriorityMinimum").value_or(0);
    server.version_priority = int_at(spec, "versionPriority").value_or(0);
    server.available = says_available(api_service);
    return server;
}

}  // namespace muster::apiserver
