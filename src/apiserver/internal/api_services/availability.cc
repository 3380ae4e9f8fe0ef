#include "apiserver/internal/api_services/availability.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/internal/webhooks/service_place.h"
#include "apiserver/internal/webhooks/service_route.h"
#include "apiserver/objects/conditions.h"
#include "apiserver/objects/json_access.h"
#include "base/utf8.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kLongestReason = 1024;
constexpr std::string_view kAvailableType = "Available";

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

Task<std::optional<Availability>> problem_of_service(const WatchCache& cache,
                                                     ExtensionServer server) {
    const auto& [space, name] = server.service;
    const CachedObject* found = cache.find("services", space, name);
    if (found == nullptr)
        co_return Availability{false, "ServiceNotFound",
                               fmt::format("service/{} in \"{}\" is not present", name, space)};
    const kube::ObjectPtr service = found->tree();
    if (!external_name_of(service->get_object()).empty()) co_return std::nullopt;
    const Result<const json::object*> port = service_port(service->get_object(), server.port);
    if (!port)
        co_return Availability{false, "ServicePortError",
                               fmt::format("service/{} in \"{}\" is not listening on port {}", name,
                                           space, server.port)};
    const ServicePlaces places = co_await places_of(cache, server.service, service, server.port);
    switch (places) {
        case ServicePlaces::kSome:
            co_return std::nullopt;
        case ServicePlaces::kNoEndpoints:
            co_return Availability{
                false, "EndpointsNotFound",
                fmt::format("cannot find endpoints for service/{} in \"{}\"", name, space)};
        case ServicePlaces::kNoAddresses:
            co_return Availability{
                false, "MissingEndpoints",
                fmt::format(
                    "endpoints for service/{} in \"{}\" have no addresses with port name \"{}\"",
                    name, space, string_at(**port, "name"))};
    }
    std::unreachable();
}

void set_available(json::object& api_service, const Availability& is, WallTime now) {
    set_condition(api_service, {kAvailableType, is.available, is.reason, is.message}, now);
}

}  // namespace muster::apiserver
