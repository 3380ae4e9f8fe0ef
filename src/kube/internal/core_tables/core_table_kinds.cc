#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kKindTable = R"(
Service
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ServiceSpec
  status      ServiceStatus

ServiceSpec
  ports                          []ServicePort keys=port,protocol merge
  selector                       map[string] atomic
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
  ipFamilyPolicy                 *string
  allocateLoadBalancerNodePorts  *bool
  loadBalancerClass              *string
  internalTrafficPolicy          *string
  trafficDistribution            *string

ServicePort
  name         string
  protocol     string default=TCP
  appProtocol  *string
  port!        int32
  targetPort   intstr
  nodePort     int32

SessionAffinityConfig
  clientIP  ClientIPConfig

ClientIPConfig
  timeoutSeconds  *int32

ServiceStatus
  loadBalancer  LoadBalancerStatus
  conditions    []Condition keys=type merge

LoadBalancerStatus
  ingress  []LoadBalancerIngress

LoadBalancerIngress
  ip        string
  hostname  string
  ipMode    *string
  ports     []PortStatus

PortStatus
  port      *int32
  protocol  *string
  error     *string

ConfigMap
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  immutable   *bool
  data        map[string]
  binaryData  map[bytes]

Secret
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  immutable   *bool
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
  reportingComponent  *string
  reportingInstance   *string

NewEvent
  apiVersion                string
  kind                      string
  metadata                  ObjectMeta
  eventTime                 microtime
  series                    EventSeries
  reportingController       string
  reportingInstance         string
  action                    string
  reason                    string
  regarding                 ObjectReference
  related                   ObjectReference
  note                      string
  type                      string
  deprecatedSource          EventSource
  deprecatedFirstTimestamp  time
  deprecatedLastTimestamp   time
  deprecatedCount           int32

PodMetrics
  apiVersion   string
  kind         string
  metadata     ObjectMeta
  timestamp!   time
  window!      string
  containers!  []ContainerMetrics

ContainerMetrics
  name!   string
  usage!  map[quantity]

NodeMetrics
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  timestamp!  time
  window!     string
  usage!      map[quantity]

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
  type                *string
  status              *string
  lastTransitionTime  time
  reason              string
  message             string

ServiceAccount
  apiVersion                    string
  kind                          string
  metadata                      ObjectMeta
  secrets                       []ObjectReference keys=name repeats merge
  imagePullSecrets              []LocalObjectReference
  automountServiceAccountToken  *bool

PodDisruptionBudget
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        PodDisruptionBudgetSpec
  status      PodDisruptionBudgetStatus

PodDisruptionBudgetSpec
  minAvailable                intstr
  maxUnavailable              intstr
  selector                    LabelSelector
  unhealthyPodEvictionPolicy  *string

PodDisruptionBudgetStatus
  observedGeneration  int64
  disruptedPods       map[time]
  disruptionsAllowed  *int32
  currentHealthy      *int32
  desiredHealthy      *int32
  expectedPods        *int32
  conditions          []Condition keys=type merge

Lease
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        LeaseSpec

LeaseSpec
  holderIdentity        *string
  leaseDurationSeconds  *int32
  acquireTime           microtime
  renewTime             microtime
  leaseTransitions      *int32
  strategy              *string
  preferredHolder       *string
)";

}  // namespace muster::kube
