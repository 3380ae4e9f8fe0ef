#include "kube/internal/core_tables.h"

namespace muster::kube {

const std::string_view kKindTable = R"(
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
  type                string
  observedGeneration  int64
  status              string
  lastProbeTime       time
  lastTransitionTime  time
  reason              string
  message             string

IPAddress
  ip  string

PodResourceClaimStatus
  name               string
  resourceClaimName  string

ContainerStatus
  name                      string
  state                     ContainerState
  lastState                 ContainerState
  ready                     bool
  restartCount              int32
  image                     string
  imageID                   string
  containerID               string
  started                   bool
  allocatedResources        map[quantity]
  resources                 ResourceRequirements
  volumeMounts              []VolumeMountStatus keys=mountPath merge
  user                      ContainerUser
  allocatedResourcesStatus  []ResourceStatus keys=name merge
  stopSignal                string

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
  exitCode     int32
  signal       int32
  reason       string
  message      string
  startedAt    time
  finishedAt   time
  containerID  string

VolumeMountStatus
  name               string
  mountPath          string
  readOnly           bool
  recursiveReadOnly  string

ContainerUser
  linux  LinuxContainerUser

LinuxContainerUser
  uid                 int64
  gid                 int64
  supplementalGroups  []int64

ResourceStatus
  name       string
  resources  []ResourceHealth keys=resourceID

ResourceHealth
  resourceID  string
  health      string

Service
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ServiceSpec
  status      ServiceStatus

ServiceSpec
  ports                          []ServicePort keys=port,protocol merge
  selector                       map[string]
  clusterIP                      string
  clusterIPs                     []string
  type                           string
  externalIPs                    []string
  sessionAffinity                string
  loadBalancerIP                 string
  loadBalancerSourceRanges       []string
  externalName                   string
  externalTrafficPolicy          string
  healthCheckNodePort            int32
  publishNotReadyAddresses       bool
  sessionAffinityConfig          SessionAffinityConfig
  ipFamilies                     []string
  ipFamilyPolicy                 string
  allocateLoadBalancerNodePorts  bool
  loadBalancerClass              string
  internalTrafficPolicy          string
  trafficDistribution            string

ServicePort
  name         string
  protocol     string default=TCP
  appProtocol  string
  port!        int32
  targetPort   intstr
  nodePort     int32

SessionAffinityConfig
  clientIP  ClientIPConfig

ClientIPConfig
  timeoutSeconds  int32

ServiceStatus
  loadBalancer  LoadBalancerStatus
  conditions    []Condition keys=type merge

LoadBalancerStatus
  ingress  []LoadBalancerIngress

LoadBalancerIngress
  ip        string
  hostname  string
  ipMode    string
  ports     []PortStatus

PortStatus
  port      int32
  protocol  string
  error     string

ConfigMap
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  immutable   bool
  data        map[string]
  binaryData  map[bytes]

Secret
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  immutable   bool
  data        map[bytes]
  stringData  map[string]
  type        string

Event
  apiVersion          string
  kind                string
  metadata!           ObjectMeta
  involvedObject!     ObjectReference
  reason              string
  message             string
  source              EventSource
  firstTimestamp      time
  lastTimestamp       time
  count               int32
  type                string
  eventTime           microtime
  series              EventSeries
  action              string
  related             ObjectReference
  reportingComponent  string
  reportingInstance   string

EventSource
  component  string
  host       string

EventSeries
  count             int32
  lastObservedTime  microtime

Namespace
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        NamespaceSpec
  status      NamespaceStatus

NamespaceSpec
  finalizers  []string

NamespaceStatus
  phase       string
  conditions  []KindCondition keys=type merge

KindCondition
  type                string
  status              string
  lastTransitionTime  time
  reason              string
  message             string

Node
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        NodeSpec
  status      NodeStatus

NodeSpec
  podCIDR        string
  podCIDRs       []string set merge
  providerID     string
  unschedulable  bool
  taints         []Taint
  configSource   NodeConfigSource
  externalID     string

Taint
  key!       string
  value      string
  effect!    string
  timeAdded  time

NodeConfigSource
  configMap  ConfigMapNodeConfigSource

ConfigMapNodeConfigSource
  namespace         string
  name              string
  uid               string
  resourceVersion   string
  kubeletConfigKey  string

NodeStatus
  capacity         map[quantity]
  allocatable      map[quantity]
  phase            string
  conditions       []NodeCondition keys=type merge
  addresses        []NodeAddress keys=type repeats merge
  daemonEndpoints  NodeDaemonEndpoints
  nodeInfo         NodeSystemInfo
  images           []ContainerImage
  volumesInUse     []string
  volumesAttached  []AttachedVolume
  config           NodeConfigStatus
  runtimeHandlers  []NodeRuntimeHandler
  features         NodeFeatures

NodeCondition
  type                string
  status              string
  lastHeartbeatTime   time
  lastTransitionTime  time
  reason              string
  message             string

NodeAddress
  type     string
  address  string

NodeDaemonEndpoints
  kubeletEndpoint  DaemonEndpoint

DaemonEndpoint
  Port  int32

NodeSystemInfo
  machineID                string
  systemUUID               string
  bootID                   string
  kernelVersion            string
  osImage                  string
  containerRuntimeVersion  string
  kubeletVersion           string
  kubeProxyVersion         string
  operatingSystem          string
  architecture             string
  swap                     NodeSwapStatus

NodeSwapStatus
  capacity  int64

ContainerImage
  names      []string
  sizeBytes  int64

AttachedVolume
  name        string
  devicePath  string

NodeConfigStatus
  assigned       NodeConfigSource
  active         NodeConfigSource
  lastKnownGood  NodeConfigSource
  error          string

NodeRuntimeHandler
  name      string
  features  NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts  bool
  userNamespaces           bool

NodeFeatures
  supplementalGroupsPolicy  bool

ServiceAccount
  apiVersion                    string
  kind                          string
  metadata                      ObjectMeta
  secrets                       []ObjectReference keys=name repeats merge
  imagePullSecrets              []LocalObjectReference
  automountServiceAccountToken  bool

Lease
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        LeaseSpec

LeaseSpec
  holderIdentity        string
  leaseDurationSeconds  int32
  acquireTime           microtime
  renewTime             microtime
  leaseTransitions      int32
  strategy              string
  preferredHolder       string

CustomResourceDefinition
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       CustomResourceDefinitionSpec
  status      CustomResourceDefinitionStatus

CustomResourceDefinitionSpec
  group!                 string
  names!                 CustomResourceDefinitionNames
  scope!                 string
  versions!              []CustomResourceDefinitionVersion
  conversion             CustomResourceConversion
  preserveUnknownFields  bool

CustomResourceDefinitionNames
  plural!     string
  singular    string
  shortNames  []string
  kind!       string
  listKind    string
  categories  []string

CustomResourceDefinitionVersion
  name!                     string
  served!                   bool
  storage!                  bool
  deprecated                bool
  deprecationWarning        string
  schema                    CustomResourceValidation
  subresources              CustomResourceSubresources
  additionalPrinterColumns  []CustomResourceColumnDefinition
  selectableFields          []SelectableField

CustomResourceValidation
  openAPIV3Schema  object

CustomResourceSubresources
  status  object
  scale   CustomResourceSubresourceScale

CustomResourceSubresourceScale
  specReplicasPath!    string
  statusReplicasPath!  string
  labelSelectorPath    string

CustomResourceColumnDefinition
  name!        string
  type!        string
  format       string
  description  string
  priority     int32
  jsonPath!    string

SelectableField
  jsonPath!  string

CustomResourceConversion
  strategy!  string
  webhook    WebhookConversion

WebhookConversion
  clientConfig               WebhookClientConfig
  conversionReviewVersions!  []string

WebhookClientConfig
  url       string
  service   WebhookServiceReference
  caBundle  bytes

WebhookServiceReference
  namespace!  string
  name!       string
  path        string
  port        int32

CustomResourceDefinitionStatus
  conditions      []KindCondition keys=type
  acceptedNames   CustomResourceDefinitionNames
  storedVersions  []string
)";

}  // namespace muster::kube
