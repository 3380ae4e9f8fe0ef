#include "apiserver/resources/access_types.h"

namespace muster::apiserver {

const kube::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
const kube::ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                       "RoleBinding"};
const kube::ResourceType kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles",
                                       "ClusterRole", false};
const kube::ResourceType kClusterRoleBindings{"rbac.authorization.k8s.io", "v1",
                                              "clusterrolebindings", "ClusterRoleBinding", false};

const kube::ResourceType kSubjectAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                               "SubjectAccessReview", false};
const kube::ResourceType kSelfSubjectAccessReviews{
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false};
const kube::ResourceType kLocalSubjectAccessReviews{
    "authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview"};
const kube::ResourceType kSelfSubjectRulesReviews{
    "authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false};
const kube::ResourceType kSelfSubjectReviews{"authentication.k8s.io", "v1", "selfsubjectreviews",
                                             "SelfSubjectReview", false};
const kube::ResourceType kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                       false};

}  // namespace muster::apiserver
