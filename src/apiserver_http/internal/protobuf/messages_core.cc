#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kCoreMessages = R"(
Binding : v1 Binding
  1 metadata ObjectMeta, 2 target ObjectReference

ConfigMap : v1 ConfigMap
  1 metadata ObjectMeta, 2 data map[string], 3 binaryData map[bytes], 4 immutable *bool

Secret : v1 Secret
  1 metadata ObjectMeta, 2 data map[bytes], 3 type string, 4 stringData map[string],
  5 immutable *bool

Event : v1 Event
  1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string,
  5 source EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int32, 9 type string,
  10 eventTime microtime, 11 series EventSeries, 12 action string, 13 related ObjectReference,
  14 reportingComponent! string, 15 reportingInstance! string

EventSource
  1 component string, 2 host string

EventSeries
  1 count int32, 2 lastObservedTime microtime

Namespace : v1 Namespace
  1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus

NamespaceSpec
  1 finalizers []string

NamespaceStatus
  1 phase string, 2 conditions []NamespaceCondition

NamespaceCondition
  1 type! string, 2 status! string, 4 lastTransitionTime time, 5 reason string, 6 message string

Node : v1 Node
  1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus

NodeSpec
  1 podCIDR string, 2 externalID string, 3 providerID string, 4 unschedulable bool,
  5 taints []Taint, 6 configSource NodeConfigSource, 7 podCIDRs []string,
  8 podPreemptionPolicy NodePodPreemptionPolicy

Taint
  1 key! string, 2 value string, 3 effect! string, 4 timeAdded time

NodeConfigSource
  2 configMap ConfigMapNodeConfigSource

ConfigMapNodeConfigSource
  1 namespace! string, 2 name! string, 3 uid string, 4 resourceVersion string,
  5 kubeletConfigKey! string

NodePodPreemptionPolicy
  1 disableResizePreemption []string

NodeStatus
  1 capacity map[quantity], 2 allocatable map[quantity], 3 phase string,
  4 conditions []NodeCondition, 5 addresses []NodeAddress, 6 daemonEndpoints NodeDaemonEndpoints,
  7 nodeInfo NodeSystemInfo, 8 images []ContainerImage, 9 volumesInUse []string,
  10 volumesAttached []AttachedVolume, 11 config NodeConfigStatus,
  12 runtimeHandlers []NodeRuntimeHandler, 13 features NodeFeatures, 14 declaredFeatures []string

NodeCondition
  1 type! string, 2 status! string, 3 lastHeartbeatTime time, 4 lastTransitionTime time,
  5 reason string, 6 message string

NodeAddress
  1 type! string, 2 address! string

NodeDaemonEndpoints
  1 kubeletEndpoint DaemonEndpoint

DaemonEndpoint
  1 Port! int32

NodeSystemInfo
  1 machineID! string, 2 systemUUID! string, 3 bootID! string, 4 kernelVersion! string,
  5 osImage! string, 6 containerRuntimeVersion! string, 7 kubeletVersion! string,
  8 kubeProxyVersion! string, 9 operatingSystem! string, 10 architecture! string,
  11 swap NodeSwapStatus

NodeSwapStatus
  1 capacity *int64

ContainerImage
  1 names []string, 2 sizeBytes int64

AttachedVolume
  1 name! string, 2 devicePath! string

NodeConfigStatus
  1 assigned NodeConfigSource, 2 active NodeConfigSource, 3 lastKnownGood NodeConfigSource,
  4 error string

NodeRuntimeHandler
  1 name! string, 2 features NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
  1 recursiveReadOnlyMounts *bool, 2 userNamespaces *bool

NodeFeatures
  1 supplementalGroupsPolicy *bool

ServiceAccount : v1 ServiceAccount
  1 metadata ObjectMeta, 2 secrets []ObjectReference, 3 imagePullSecrets []LocalObjectReference,
  4 automountServiceAccountToken *bool

Service : v1 Service
  1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus

ServiceSpec
  1 ports []ServicePort, 2 selector map[string], 3 clusterIP string, 4 type string,
  5 externalIPs []string, 7 sessionAffinity string, 8 loadBalancerIP string,
  9 loadBalancerSourceRanges []string, 10 externalName string, 11 externalTrafficPolicy string,
  12 healthCheckNodePort int32, 13 publishNotReadyAddresses bool,
  14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy *string,
  18 clusterIPs []string, 19 ipFamilies []string, 20 allocateLoadBalancerNodePorts *bool,
  21 loadBalancerClass *string, 22 internalTrafficPolicy *string, 23 trafficDistribution *string

ServicePort
  1 name string, 2 protocol string, 3 port! int32, 4 targetPort intstr, 5 nodePort int32,
  6 appProtocol *string

SessionAffinityConfig
  1 clientIP ClientIPConfig

ClientIPConfig
  1 timeoutSeconds *int32

ServiceStatus
  1 loadBalancer LoadBalancerStatus, 2 conditions []Condition

LoadBalancerStatus
  1 ingress []LoadBalancerIngress

LoadBalancerIngress
  1 ip string, 2 hostname string, 3 ipMode *string, 4 ports []PortStatus

PortStatus
  1 port! int32, 2 protocol! string, 3 error *string

Endpoints : v1 Endpoints
  1 metadata ObjectMeta, 2 subsets []EndpointSubset

EndpointSubset
  1 addresses []EndpointAddress, 2 notReadyAddresses []EndpointAddress, 3 ports []EndpointPort

EndpointAddress
  1 ip! string, 2 targetRef ObjectReference, 3 hostname string, 4 nodeName *string

EndpointPort
  1 name string, 2 port! int32, 3 protocol string, 4 appProtocol *string

PersistentVolumeClaim : v1 PersistentVolumeClaim
  1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status PersistentVolumeClaimStatus

PersistentVolumeClaimStatus
  1 phase string, 2 accessModes []string, 3 capacity map[quantity],
  4 conditions []PersistentVolumeClaimCondition, 5 allocatedResources map[quantity],
  7 allocatedResourceStatuses map[string], 8 currentVolumeAttributesClassName *string,
  9 modifyVolumeStatus ModifyVolumeStatus, 10 healthStatus VolumeHealthStatus

PersistentVolumeClaimCondition
  1 type! string, 2 status! string, 3 lastProbeTime time, 4 lastTransitionTime time,
  5 reason string, 6 message string

ModifyVolumeStatus
  1 targetVolumeAttributesClassName string, 2 status! string

VolumeHealthStatus
  1 healthConditions []VolumeHealthCondition, 2 lastTransitionTime time

NewEvent : events.k8s.io/v1 Event
  1 metadata ObjectMeta, 2 eventTime microtime, 3 series NewEventSeries,
  4 reportingController string, 5 reportingInstance string, 6 action string, 7 reason string,
  8 regarding ObjectReference, 9 related ObjectReference, 10 note string, 11 type string,
  12 deprecatedSource EventSource, 13 deprecatedFirstTimestamp time,
  14 deprecatedLastTimestamp time, 15 deprecatedCount int32

NewEventSeries
  1 count! int32, 2 lastObservedTime microtime

Lease : coordination.k8s.io/v1 Lease
  1 metadata ObjectMeta, 2 spec LeaseSpec

LeaseSpec
  1 holderIdentity *string, 2 leaseDurationSeconds *int32, 3 acquireTime microtime,
  4 renewTime microtime, 5 leaseTransitions *int32, 6 strategy *string, 7 preferredHolder *string

PriorityClass : scheduling.k8s.io/v1 PriorityClass
  1 metadata ObjectMeta, 2 value! int32, 3 globalDefault bool, 4 description string,
  5 preemptionPolicy *string
)";

}  // namespace muster::apiserver_http
