#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kPodStatusMessages = R"(
Pod : v1 Pod
  1 metadata ObjectMeta, 2 spec PodSpec, 3 status PodStatus

PodStatus
  1 phase string, 2 conditions []PodCondition, 3 message string, 4 reason string, 5 hostIP string,
  6 podIP string, 7 startTime time, 8 containerStatuses []ContainerStatus, 9 qosClass string,
  10 initContainerStatuses []ContainerStatus, 11 nominatedNodeName string, 12 podIPs []PodIP,
  13 ephemeralContainerStatuses []ContainerStatus, 14 resize string,
  15 resourceClaimStatuses []PodResourceClaimStatus, 16 hostIPs []HostIP,
  17 observedGeneration int64, 18 extendedResourceClaimStatus PodExtendedResourceClaimStatus,
  19 allocatedResources map[quantity], 20 resources ResourceRequirements,
  21 nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus,
  22 volumeHealth []PodVolumeHealth

PodCondition
  1 type! string, 2 status! string, 3 lastProbeTime time, 4 lastTransitionTime time,
  5 reason string, 6 message string, 7 observedGeneration int64

ContainerStatus
  1 name! string, 2 state ContainerState, 3 lastState ContainerState, 4 ready! bool,
  5 restartCount! int32, 6 image! string, 7 imageID! string, 8 containerID string,
  9 started *bool, 10 allocatedResources map[quantity], 11 resources ResourceRequirements,
  12 volumeMounts []VolumeMountStatus, 13 user ContainerUser,
  14 allocatedResourcesStatus []ResourceStatus, 15 stopSignal *string

ContainerState
  1 waiting ContainerStateWaiting, 2 running ContainerStateRunning,
  3 terminated ContainerStateTerminated

ContainerStateWaiting
  1 reason string, 2 message string

ContainerStateRunning
  1 startedAt time

ContainerStateTerminated
  1 exitCode! int32, 2 signal int32, 3 reason string, 4 message string, 5 startedAt time,
  6 finishedAt time, 7 containerID string

VolumeMountStatus
  1 name! string, 2 mountPath! string, 3 readOnly bool, 4 recursiveReadOnly *string,
  5 volumeStatus VolumeStatus

VolumeStatus
  1 image ImageVolumeStatus

ImageVolumeStatus
  1 imageRef string

ContainerUser
  1 linux LinuxContainerUser

LinuxContainerUser
  1 uid! int64, 2 gid! int64, 3 supplementalGroups []int64

ResourceStatus
  1 name! string, 2 resources []ResourceHealth

ResourceHealth
  1 resourceID! string, 2 health string, 6 message *string

PodIP
  1 ip! string

PodResourceClaimStatus
  1 name! string, 2 resourceClaimName *string

HostIP
  1 ip! string

PodExtendedResourceClaimStatus
  1 requestMappings []ContainerExtendedResourceRequest, 2 resourceClaimName! string

ContainerExtendedResourceRequest
  1 containerName! string, 2 resourceName! string, 3 requestName! string

NodeAllocatableResourceClaimStatus
  1 resourceClaimName! string, 2 containers []string, 4 mapping []NodeAllocatableMappedResources,
  5 overhead []NodeAllocatableOverheadResources

NodeAllocatableMappedResources
  1 name! string, 2 quantity *quantity

NodeAllocatableOverheadResources
  1 name! string, 2 perPod *quantity, 3 perContainer *quantity

PodVolumeHealth
  1 name! string, 2 healthConditions []VolumeHealthCondition, 3 lastTransitionTime time

VolumeHealthCondition
  1 status! string, 2 reason! string, 3 message string
)";

}  // namespace muster::apiserver_http
