#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/aggregation/extension_server.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// The condition Available of an APIService.
struct Availability {
    bool available = false;
    std::string reason;
    std::string message;

    friend bool operator==(const Availability&, const Availability&) = default;
};

// In the words of kube-apiserver.

Availability local_availability();
Availability passed_checks();
Availability failed_check(std::string_view why);
/// There are more servers than are served at a time.
Availability too_many_servers(std::size_t most);

/// What the service of a server says against it; nullopt: the server itself has to be asked. `cache`
/// outlives the call.
Task<std::optional<Availability>> problem_of_service(const WatchCache& cache,
                                                     ExtensionServer server);

/// Sets the condition of an APIService. Its time changes only with its status.
void set_available(json::object& api_service, const Availability& is, WallTime now);

}  // namespace muster::apiserver
