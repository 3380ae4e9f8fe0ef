#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kMetaTable = R"(
ObjectMeta
  name                        string
  generateName                string
  namespace                   string
  selfLink                    string
  uid                         string
  resourceVersion             string
  generation                  int64
  creationTimestamp           time
  deletionTimestamp           time
  deletionGracePeriodSeconds  *int64
  labels                      map[string]
  annotations                 map[string]
  ownerReferences             []OwnerReference keys=uid repeats merge
  finalizers                  []string set repeats merge
  managedFields               []ManagedFieldsEntry

OwnerReference atomic
  apiVersion!         string
  kind!               string
  name!               string
  uid!                string
  controller          *bool
  blockOwnerDeletion  *bool

ManagedFieldsEntry
  manager      string
  operation    string
  apiVersion   string
  time         time
  fieldsType   string
  fieldsV1     object
  subresource  string

LabelSelector atomic
  matchLabels       map[string]
  matchExpressions  []LabelSelectorRequirement

LabelSelectorRequirement
  key!       string
  operator!  string
  values     []string

Condition
  type                *string
  status              *string
  observedGeneration  int64
  lastTransitionTime  time
  reason              *string
  message             *string

ObjectReference atomic
  kind             string
  namespace        string
  name             string
  uid              string
  apiVersion       string
  resourceVersion  string
  fieldPath        string

LocalObjectReference atomic
  name  string default=

TypedLocalObjectReference atomic
  apiGroup  *string
  kind!     string
  name!     string

TypedObjectReference
  apiGroup   *string
  kind!      string
  name!      string
  namespace  *string
)";

}  // namespace muster::kube
