#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kNodeTable = R"(
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
  namespace         *string
  name              *string
  uid               string
  resourceVersion   string
  kubeletConfigKey  *string

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
  type                *string
  status              *string
  lastHeartbeatTime   time
  lastTransitionTime  time
  reason              string
  message             string

NodeAddress
  type     *string
  address  *string

NodeDaemonEndpoints
  kubeletEndpoint  DaemonEndpoint

DaemonEndpoint
  Port  *int32

NodeSystemInfo
  machineID                *string
  systemUUID               *string
  bootID                   *string
  kernelVersion            *string
  osImage                  *string
  containerRuntimeVersion  *string
  kubeletVersion           *string
  kubeProxyVersion         *string
  operatingSystem          *string
  architecture             *string
  swap                     NodeSwapStatus

NodeSwapStatus
  capacity  *int64

ContainerImage
  names      []string
  sizeBytes  int64

AttachedVolume
  name        *string
  devicePath  *string

NodeConfigStatus
  assigned       NodeConfigSource
  active         NodeConfigSource
  lastKnownGood  NodeConfigSource
  error          string

NodeRuntimeHandler
  name      *string
  features  NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts  *bool
  userNamespaces           *bool

NodeFeatures
  supplementalGroupsPolicy  *bool
)";

}  // namespace muster::kube
