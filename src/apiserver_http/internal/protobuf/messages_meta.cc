#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kMetaMessages = R"(
ObjectMeta
  1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid string,
  6 resourceVersion string, 7 generation int64, 8 creationTimestamp time,
  9 deletionTimestamp time, 10 deletionGracePeriodSeconds *int64, 11 labels map[string],
  12 annotations map[string], 13 ownerReferences []OwnerReference, 14 finalizers []string,
  17 managedFields []ManagedFieldsEntry

OwnerReference
  1 kind! string, 3 name! string, 4 uid! string, 5 apiVersion! string, 6 controller *bool,
  7 blockOwnerDeletion *bool

ManagedFieldsEntry
  1 manager string, 2 operation string, 3 apiVersion string, 4 time time, 6 fieldsType string,
  7 fieldsV1 json, 8 subresource string

LabelSelector
  1 matchLabels map[string], 2 matchExpressions []LabelSelectorRequirement

LabelSelectorRequirement
  1 key! string, 2 operator! string, 3 values []string

Condition
  1 type! string, 2 status! string, 3 observedGeneration int64, 4 lastTransitionTime time,
  5 reason! string, 6 message! string

DeleteOptions : * DeleteOptions
  1 gracePeriodSeconds *int64, 2 preconditions Preconditions, 3 orphanDependents *bool,
  4 propagationPolicy *string, 5 dryRun []string,
  6 ignoreStoreReadErrorWithClusterBreakingPotential *bool

Preconditions
  1 uid *string, 2 resourceVersion *string

ObjectReference
  1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string,
  6 resourceVersion string, 7 fieldPath string

LocalObjectReference
  1 name string

TypedLocalObjectReference
  1 apiGroup *string, 2 kind! string, 3 name! string

TypedObjectReference
  1 apiGroup *string, 2 kind! string, 3 name! string, 4 namespace *string

NodeSelector
  1 nodeSelectorTerms []NodeSelectorTerm

NodeSelectorTerm
  1 matchExpressions []NodeSelectorRequirement, 2 matchFields []NodeSelectorRequirement

NodeSelectorRequirement
  1 key! string, 2 operator! string, 3 values []string
)";

}  // namespace muster::apiserver_http
