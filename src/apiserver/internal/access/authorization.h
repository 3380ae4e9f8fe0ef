#pragma once

#include <string>
#include <string_view>

#include "apiserver/access.h"
#include "apiserver/internal/refusal.h"
#include "apiserver/internal/router.h"

namespace muster::apiserver {

/// What somebody wants to do. Either with a resource, or, where `resource` is empty, with a path.
struct Action {
    std::string verb;  ///< get, list, watch, create, update, patch, delete, deletecollection
    std::string group;
    std::string resource;
    std::string subresource;
    std::string namespace_;
    std::string name;
    std::string path;
};

Action action_on(const Target& target, kube::Method method, bool watch);
Action action_on_path(std::string path, kube::Method method);

/// 403 with a real server's wording unless `user` may do it.
Answer<void> authorize(const User& user, const Action& action);

}  // namespace muster::apiserver
