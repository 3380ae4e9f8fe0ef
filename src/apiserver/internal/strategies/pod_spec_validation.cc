#include "apiserver/internal/strategies/pod_spec_validation.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/json/value_from.hpp>
#include <limits>

#include "apiserver/internal/pod_validation/container_resources.h"
#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/placement.h"
#include "apiserver/internal/pod_validation/security.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/container_validation.h"
#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/strategies/volume_validation.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

void check_containers(const json::object& spec, const std::string& in, bool init, PodNames& names,
                      FieldErrors& field_errors) {
    const std::string_view key = init ? "initContainers" : "containers";
    const json::array* containers = array_at(spec, key);
    const std::string field = fmt::format("{}.{}", in, key);
    if (containers == nullptr || containers->empty()) {
        if (!init) field_errors.push_back(required(field));
        return;
    }
    for (std::size_t i = 0; i < containers->size(); ++i)
        if (const json::object* container = (*containers)[i].if_object())
            check_container(*container, spec, init, fmt::format("{}[{}]", field, i), names,
                            field_errors);
}

constexpr std::int64_t kMostDeadline = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostNameServers = 3;
constexpr std::size_t kMostSearches = 32;
constexpr std::size_t kMostSearchBytes = 2048;

bool is_ip_address(const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return ::inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

void check_searches(const std::vector<std::string>& searches, const std::string& in,
                    FieldErrors& field_errors) {
    if (searches.size() > kMostSearches)
        field_errors.push_back(invalid_value(in, json::value_from(searches),
                                             "must not have more than 32 search paths"));
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < searches.size(); ++i) {
        bytes += searches[i].size() + (i == 0 ? 0 : 1);
        std::string_view domain = searches[i];
        if (domain == ".") continue;
        if (domain.ends_with('.')) domain.remove_suffix(1);
        check_search_domain(domain, fmt::format("{}[{}]", in, i), field_errors);
    }
    if (bytes > kMostSearchBytes)
        field_errors.push_back(
            invalid_value(in, json::value_from(searches),
                          "must not have more than 2048 characters (including spaces) in the "
                          "search list"));
}

/// Upstream: validation.go, validatePodDNSConfig.
void check_dns_config(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    const std::string path = in + ".dnsConfig";
    const json::object* config = object_at(spec, "dnsConfig");
    const bool alone = string_at(spec, "dnsPolicy") == "None";
    if (config == nullptr) {
        if (alone)
            field_errors.push_back(required(path,
                                            "must provide `dnsConfig` when `dnsPolicy` is "
                                            "None"));
        return;
    }
    const std::vector<std::string> servers = strings_at(*config, "nameservers");
    if (alone && servers.empty())
        field_errors.push_back(
            required(path + ".nameservers",
                     "must provide at least one DNS nameserver with `dnsPolicy: None`"));
    if (servers.size() > kMostNameServers)
        field_errors.push_back(invalid_value(path + ".nameservers", json::value_from(servers),
                                             "must not have more than 3 nameservers"));
    for (std::size_t i = 0; i < servers.size(); ++i)
        if (!is_ip_address(servers[i]))
            field_errors.push_back(
                invalid_value(fmt::format("{}.nameservers[{}]", path, i), json::value(servers[i]),
                              "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    check_searches(strings_at(*config, "searches"), path + ".searches", field_errors);
    const auto options = objects_at(*config, "options");
    for (std::size_t i = 0; i < options.size(); ++i)
        if (string_at(*options[i], "name").empty())
            field_errors.push_back(
                required(fmt::format("{}.options[{}]", path, i), "must not be empty"));
}

void check_host_aliases(const json::object& spec, const std::string& in,
                        FieldErrors& field_errors) {
    const auto aliases = objects_at(spec, "hostAliases");
    for (std::size_t i = 0; i < aliases.size(); ++i) {
        const std::string field = fmt::format("{}.hostAliases[{}]", in, i);
        if (const std::string ip(string_at(*aliases[i], "ip")); !is_ip_address(ip))
            field_errors.push_back(
                invalid_value(field + ".ip", json::value(ip),
                              "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
        const std::vector<std::string> names = strings_at(*aliases[i], "hostnames");
        for (std::size_t name = 0; name < names.size(); ++name)
            check_dns_subdomain(names[name], fmt::format("{}.hostnames[{}]", field, name),
                                field_errors);
    }
}

/// The volumes that may be block devices.
std::set<std::string, std::less<>> claims_of(const json::object& spec) {
    std::set<std::string, std::less<>> claims;
    for (const json::object* volume : objects_at(spec, "volumes"))
        if (volume->contains("persistentVolumeClaim") || volume->contains("ephemeral"))
            claims.emplace(string_at(*volume, "name"));
    return claims;
}

}  // namespace

void check_changeable_parts(const json::object& spec, const std::string& in,
                            FieldErrors& field_errors) {
    for (const char* key : {"containers", "initContainers"}) {
        const auto containers = objects_at(spec, key);
        for (std::size_t i = 0; i < containers.size(); ++i)
            if (string_at(*containers[i], "image").empty())
                field_errors.push_back(required(fmt::format("{}.{}[{}].image", in, key, i)));
    }
    check_tolerations(spec, in, field_errors);
    check_range(spec, "activeDeadlineSeconds", 1, kMostDeadline, in, field_errors);
}

void check_ephemeral_containers(const json::object& spec, FieldErrors& field_errors) {
    const auto containers = objects_at(spec, "ephemeralContainers");
    PodNames names;
    names.claims = claims_of(spec);
    for (const json::object* volume : objects_at(spec, "volumes"))
        names.volumes.emplace(string_at(*volume, "name"));
    for (const char* key : {"containers", "initContainers"})
        for (const json::object* other : objects_at(spec, key))
            names.containers.emplace(string_at(*other, "name"));
    const auto targets = names.containers;
    for (std::size_t i = 0; i < containers.size(); ++i)
        check_ephemeral_container(*containers[i], spec,
                                  fmt::format("spec.ephemeralContainers[{}]", i), targets, names,
                                  field_errors);
}

void check_pod_spec(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    PodNames names;
    names.host_network = bool_at(spec, "hostNetwork");
    names.volumes = check_volumes(spec, in, field_errors);
    names.claims = claims_of(spec);
    check_containers(spec, in, false, names, field_errors);
    check_containers(spec, in, true, names, field_errors);
    const std::string_view restart = string_at(spec, "restartPolicy");
    if (restart != "Always" && restart != "OnFailure" && restart != "Never")
        field_errors.push_back(
            not_supported(in + ".restartPolicy", restart, {"Always", "OnFailure", "Never"}));
    const std::string_view dns = string_at(spec, "dnsPolicy");
    if (dns != "ClusterFirstWithHostNet" && dns != "ClusterFirst" && dns != "Default" &&
        dns != "None")
        field_errors.push_back(
            not_supported(in + ".dnsPolicy", dns,
                          {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}));
    check_dns_config(spec, in, field_errors);
    check_range(spec, "activeDeadlineSeconds", 1, kMostDeadline, in, field_errors);
    for (const char* key : {"hostname", "subdomain"})
        if (const std::string_view text = string_at(spec, key); !text.empty())
            check_dns_label(text, fmt::format("{}.{}", in, key), field_errors);
    for (const char* key : {"nodeName", "serviceAccountName"})
        if (const std::string_view text = string_at(spec, key); !text.empty())
            check_dns_subdomain(text, fmt::format("{}.{}", in, key), field_errors);
    if (const json::object* selector = object_at(spec, "nodeSelector"))
        check_label_map(*selector, in + ".nodeSelector", field_errors);
    check_host_aliases(spec, in, field_errors);
    check_overhead(spec, in, field_errors);
    check_placement(spec, in, field_errors);
    check_pod_security(spec, in, field_errors);
    if (is_gated(spec) && !string_at(spec, "nodeName").empty())
        field_errors.push_back(forbidden_field(
            in + ".nodeName", "cannot be set until all schedulingGates have been cleared"));
}

}  // namespace muster::apiserver
