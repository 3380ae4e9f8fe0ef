#pragma once

#include "apiserver/requests/user.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// A user as a UserInfo of authentication.k8s.io.
json::object user_info(const User& user);

}  // namespace muster::apiserver
