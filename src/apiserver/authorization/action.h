#pragma once

#include <string>
#include <string_view>

#include "apiserver/requests/router.h"
#include "kube/transport/transport.h"

namespace muster::apiserver {

/// A requested action, on a resource or, if `resource` is empty, on a path.
struct Action {
    std::string verb = {};  ///< get, list, watch, create, update, patch, delete, deletecollection
    std::string group = {};
    std::string resource = {};
    std::string subresource = {};
    std::string namespace_ = {};
    std::string name = {};
    std::string path = {};
};

/// The verb of a request for a resource.
std::string_view verb_of(kube::Method method, bool collection, bool watch);
/// The only name that a field selector allows, or none.
std::string selected_name(std::string_view field_selector);

/// `field_selector`: a collection that is narrowed to one name counts as that object.
Action action_on(const Target& target, kube::Method method, bool watch,
                 std::string_view field_selector = {});
Action action_on_path(std::string path, kube::Method method);

}  // namespace muster::apiserver
