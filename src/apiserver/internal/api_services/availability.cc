#include "apiserver/internal/api_services/availability.h"

#include <fmt/format.h>

#include "apiserver/internal/webhooks/service_place.h"
#include "apiserver/internal/webhooks/service_route.h"
#include "apiserver/objects/conditions.h"
#include "apiserver/objects/json_access.h"
#include "base/utf8.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kLongestReason = 1024;
constexpr std::string_view kAvailableType = "Available";

/// The name of the service's port; nullopt if there is no such port.
std::optional<std::string> service_port_name(const json::object& service, std::uint16_t number) {
    for (const json::object* port : objects_at(child(service, "spec"), "ports"))
        if (int_at(*port, "port") == number) return std::string(string_at(*port, "name"));
    return std::nullopt;
}

}  // namespace

Availability local_availability() {
    return {true, "Local", "Local APIServices are always available"};
}

Availability passed_checks() { return {true, "Passed", "all checks passed"}; }

Availability failed_check(std::string_view why) {
    return {false, "FailedDiscoveryCheck",
            std::string(cut_utf8(as_utf8(why.substr(0, kLongestReason)), kLongestReason))};
}

Availability too_many_servers(std::size_t most) {
    return {false, "TooManyServers",
            fmt::format("this server passes requests on to {} others at most; delete another "
                        "APIService with a service",
                        most)};
}

std::optional<Availability> problem_of_service(const WatchCache& cache,
                                               const ExtensionServer& server) {
    const auto& [space, name] = server.service;
    const CachedObject* found = cache.find("services", space, name);
    if (found == nullptr)
        return Availability{false, "ServiceNotFound",
                            fmt::format("service/{} in \"{}\" is not present", name, space)};
    const kube::ObjectPtr held = found->tree();
    const json::object& service = held->get_object();
    if (!external_name_of(service).empty()) return std::nullopt;
    const std::optional<std::string> port = service_port_name(service, server.port);
    if (!port)
        return Availability{false, "ServicePortError",
                            fmt::format("service/{} in \"{}\" is not listening on port {}", name,
                                        space, server.port)};
    if (has_places(cache, server.service, service, server.port)) return std::nullopt;
    if (!has_selector(service) && !has_endpoints(cache, server.service))
        return Availability{
            false, "EndpointsNotFound",
            fmt::format("cannot find endpoints for service/{} in \"{}\"", name, space)};
    return Availability{
        false, "MissingEndpoints",
        fmt::format("endpoints for service/{} in \"{}\" have no addresses with port name \"{}\"",
                    name, space, *port)};
}

void set_available(json::object& api_service, const Availability& is, WallTime now) {
    set_condition(api_service, {kAvailableType, is.available, is.reason, is.message}, now);
}

}  // namespace muster::apiserver
