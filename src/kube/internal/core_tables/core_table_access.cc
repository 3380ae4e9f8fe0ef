#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kAccessTable = R"(
Role
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  rules       []PolicyRule

ClusterRole
  apiVersion       string
  kind             string
  metadata         ObjectMeta
  rules            []PolicyRule
  aggregationRule  AggregationRule

PolicyRule
  verbs            []string
  apiGroups        []string
  resources        []string
  resourceNames    []string
  nonResourceURLs  []string

AggregationRule
  clusterRoleSelectors  []LabelSelector

RoleBinding
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  subjects    []Subject
  roleRef     RoleRef

ClusterRoleBinding
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  subjects    []Subject
  roleRef     RoleRef

Subject atomic
  kind       *string
  apiGroup   string
  name       *string
  namespace  string

RoleRef atomic
  apiGroup  *string
  kind      *string
  name      *string

SubjectAccessReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       SubjectAccessReviewSpec
  status      SubjectAccessReviewStatus

LocalSubjectAccessReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       SubjectAccessReviewSpec
  status      SubjectAccessReviewStatus

SubjectAccessReviewSpec
  resourceAttributes     ResourceAttributes
  nonResourceAttributes  NonResourceAttributes
  user                   string
  groups                 []string
  extra                  map[[]string]
  uid                    string

SelfSubjectAccessReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       SelfSubjectAccessReviewSpec
  status      SubjectAccessReviewStatus

SelfSubjectAccessReviewSpec
  resourceAttributes     ResourceAttributes
  nonResourceAttributes  NonResourceAttributes

ResourceAttributes
  namespace      string
  verb           string
  group          string
  version        string
  resource       string
  subresource    string
  name           string
  fieldSelector  FieldSelectorAttributes
  labelSelector  LabelSelectorAttributes

FieldSelectorAttributes
  rawSelector   string
  requirements  []FieldSelectorRequirement

FieldSelectorRequirement
  key!       string
  operator!  string
  values     []string

LabelSelectorAttributes
  rawSelector   string
  requirements  []LabelSelectorRequirement

NonResourceAttributes
  path  string
  verb  string

SubjectAccessReviewStatus
  allowed          *bool
  denied           bool
  reason           string
  evaluationError  string

SelfSubjectRulesReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       SelfSubjectRulesReviewSpec
  status      SubjectRulesReviewStatus

SelfSubjectRulesReviewSpec
  namespace  string

SubjectRulesReviewStatus
  resourceRules     []ResourceRule
  nonResourceRules  []NonResourceRule
  incomplete        *bool
  evaluationError   string

ResourceRule
  verbs          []string
  apiGroups      []string
  resources      []string
  resourceNames  []string

NonResourceRule
  verbs            []string
  nonResourceURLs  []string

SelfSubjectReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  status      SelfSubjectReviewStatus

SelfSubjectReviewStatus
  userInfo  UserInfo

UserInfo
  username  string
  uid       string
  groups    []string
  extra     map[[]string]

TokenReview
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       TokenReviewSpec
  status      TokenReviewStatus

TokenReviewSpec
  token      string
  audiences  []string

TokenReviewStatus
  authenticated  bool
  user           UserInfo
  audiences      []string
  error          string

TokenRequest
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        TokenRequestSpec
  status      TokenRequestStatus

TokenRequestSpec
  audiences          []string
  boundObjectRef     BoundObjectReference
  expirationSeconds  *int64

BoundObjectReference
  kind        string
  apiVersion  string
  name        string
  uid         string

TokenRequestStatus
  token                *string
  expirationTimestamp  time
)";

}  // namespace muster::kube
