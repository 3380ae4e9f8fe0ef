#include "kube/client_config/exec_credential.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "kube/values/base64.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"

namespace muster::kube {

std::string exec_info(const ClientConfig& access, const ExecPlugin& plugin, std::string_view ca_pem,
                      bool interactive) {
    json::object spec{{"interactive", interactive}};
    if (plugin.provide_cluster_info) {
        json::object cluster{{"server", access.url.text()}};
        if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
        if (access.insecure) cluster["insecure-skip-tls-verify"] = true;
        if (!access.proxy_url.empty()) cluster["proxy-url"] = access.proxy_url;
        if (!ca_pem.empty()) cluster["certificate-authority-data"] = base64_encode(ca_pem);
        spec["cluster"] = std::move(cluster);
    }
    return json::serialize(json::object{
        {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, std::string_view printed) {
    const auto wrong = [&](std::string_view why) {
        return Error(Code::kUnauthorized,
                     fmt::format("the exec plugin {} {}", plugin.command, why));
    };
    const std::optional<json::value> value = read_json(printed);
    if (!value || !value->is_object()) return wrong("did not print a JSON object");
    const json::object& object = value->get_object();
    if (string_at(object, "kind") != "ExecCredential")
        return wrong("printed an object whose kind is not ExecCredential");
    if (const std::string_view version = string_at(object, "apiVersion");
        version != plugin.api_version)
        return wrong(
            fmt::format("speaks {}, but exec.apiVersion is {}", version, plugin.api_version));
    const json::object* status = object_at(object, "status");
    if (status == nullptr) return wrong("printed no status");
    ExecCredential credential{
        .token = std::string(string_at(*status, "token")),
        .certificate_pem = std::string(string_at(*status, "clientCertificateData")),
        .key_pem = std::string(string_at(*status, "clientKeyData"))};
    if (credential.certificate_pem.empty() != credential.key_pem.empty())
        return wrong("gave only one of clientCertificateData and clientKeyData");
    if (credential.token.empty() && credential.certificate_pem.empty())
        return wrong("gave neither a token nor a certificate");
    if (const std::string_view ends = string_at(*status, "expirationTimestamp"); !ends.empty()) {
        credential.ends = parse_time(ends);
        if (!credential.ends)
            return wrong(
                fmt::format("gave the expirationTimestamp \"{}\", which is not a time", ends));
    }
    return credential;
}

WallTime renewal_time(WallTime got, WallTime ends) {
    constexpr Duration kLongestBefore = std::chrono::minutes(5);
    constexpr Duration kRest = std::chrono::seconds(10);
    return std::max(ends - std::min((ends - got) / 5, kLongestBefore), got + kRest);
}

}  // namespace muster::kube
