#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kPodStatusTable = R"(
PodStatus
  observedGeneration          int64
  phase                       string
  conditions                  []PodCondition keys=type merge
  message                     string
  reason                      string
  nominatedNodeName           string
  hostIP                      string
  hostIPs                     []IPAddress merge=ip
  podIP                       string
  podIPs                      []IPAddress keys=ip merge
  startTime                   time
  initContainerStatuses       []ContainerStatus
  containerStatuses           []ContainerStatus
  qosClass                    string
  ephemeralContainerStatuses  []ContainerStatus
  resize                      string
  resourceClaimStatuses       []PodResourceClaimStatus keys=name merge retain

PodCondition
  type                *string
  observedGeneration  int64
  status              *string
  lastProbeTime       time
  lastTransitionTime  time
  reason              string
  message             string

IPAddress
  ip  *string

PodResourceClaimStatus
  name               *string
  resourceClaimName  *string

ContainerStatus
  name                      *string
  state                     ContainerState
  lastState                 ContainerState
  ready                     *bool
  restartCount              *int32
  image                     *string
  imageID                   *string
  containerID               string
  started                   *bool
  allocatedResources        map[quantity]
  resources                 ResourceRequirements
  volumeMounts              []VolumeMountStatus keys=mountPath merge
  user                      ContainerUser
  allocatedResourcesStatus  []ResourceStatus keys=name merge
  stopSignal                *string

ContainerState
  waiting     ContainerStateWaiting
  running     ContainerStateRunning
  terminated  ContainerStateTerminated

ContainerStateWaiting
  reason   string
  message  string

ContainerStateRunning
  startedAt  time

ContainerStateTerminated
  exitCode     *int32
  signal       int32
  reason       string
  message      string
  startedAt    time
  finishedAt   time
  containerID  string

VolumeMountStatus
  name               *string
  mountPath          *string
  readOnly           bool
  recursiveReadOnly  *string

ContainerUser
  linux  LinuxContainerUser

LinuxContainerUser
  uid                 *int64
  gid                 *int64
  supplementalGroups  []int64

ResourceStatus
  name       *string
  resources  []ResourceHealth keys=resourceID

ResourceHealth
  resourceID  *string
  health      string
)";

}  // namespace muster::kube
