#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kLimitTable = R"(
ResourceQuota
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ResourceQuotaSpec
  status      ResourceQuotaStatus

ResourceQuotaSpec
  hard           map[quantity]
  scopeSelector  ScopeSelector
  scopes         []string

ResourceQuotaStatus
  hard  map[quantity]
  used  map[quantity]

ScopeSelector atomic
  matchExpressions  []ScopedResourceSelectorRequirement

ScopedResourceSelectorRequirement
  operator!   string
  scopeName!  string
  values      []string

LimitRange
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        LimitRangeSpec

LimitRangeSpec
  limits  []LimitRangeItem

LimitRangeItem
  default               map[quantity]
  defaultRequest        map[quantity]
  max                   map[quantity]
  maxLimitRequestRatio  map[quantity]
  min                   map[quantity]
  type!                 string

PriorityClass
  apiVersion        string
  kind              string
  metadata          ObjectMeta
  description       string
  globalDefault     bool
  preemptionPolicy  *string
  value             *int32

RuntimeClass
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  handler!    string
  overhead    Overhead
  scheduling  Scheduling

Overhead
  podFixed  map[quantity]

Scheduling
  nodeSelector  map[string] atomic
  tolerations   []Toleration
)";

}  // namespace muster::kube
