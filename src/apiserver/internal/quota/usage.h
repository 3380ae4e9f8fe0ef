#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/internal/quota/resource_list.h"
#include "base/time/clock.h"

namespace muster::apiserver {

/// The resource whose objects a limit of a quota counts ("pods" for requests.cpu), as the store
/// names it. Empty: nothing is counted by this name.
std::string_view counted_resource(std::string_view limit);

/// What one object takes of quotas.
struct Usage {
    ResourceList amounts;
    // Of a pod: what scopes ask.
    bool is_pod = false;
    bool terminating = false;  ///< it has a deadline
    bool best_effort = false;
    bool cross_namespace_affinity = false;
    std::string priority_class = {};
    /// It is being deleted, and takes less after this time; nullopt: it is not, or takes less now.
    std::optional<WallTime> until = {};
};
/// `resource` as the store names it. A pod that has ended, or should have ended long ago, takes only
/// its place among the objects.
Usage usage_of(std::string_view resource, const json::object& object, WallTime now);
/// Whether an update of an object can take more than the object took before.
bool may_take_more(std::string_view resource, const json::object& before,
                   const json::object& after);

}  // namespace muster::apiserver
