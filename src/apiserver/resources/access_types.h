#pragma once

#include <string_view>

#include "kube/objects/resource_type.h"

namespace muster::apiserver {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

extern const kube::ResourceType kRoles;
extern const kube::ResourceType kRoleBindings;
extern const kube::ResourceType kClusterRoles;
extern const kube::ResourceType kClusterRoleBindings;

// Reviews, which are answered and not stored.
extern const kube::ResourceType kSubjectAccessReviews;
extern const kube::ResourceType kSelfSubjectAccessReviews;
extern const kube::ResourceType kLocalSubjectAccessReviews;
extern const kube::ResourceType kSelfSubjectRulesReviews;
extern const kube::ResourceType kSelfSubjectReviews;
extern const kube::ResourceType kTokenReviews;

}  // namespace muster::apiserver
