#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kPodTable = R"(
Pod
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        PodSpec
  status      PodStatus

PodTemplateSpec
  metadata  ObjectMeta
  spec      PodSpec

PodSpec
  volumes                        []Volume keys=name merge retain
  initContainers                 []Container keys=name merge
  containers!                    []Container keys=name merge
  ephemeralContainers            []EphemeralContainer keys=name merge
  restartPolicy                  string
  terminationGracePeriodSeconds  *int64
  activeDeadlineSeconds          *int64
  dnsPolicy                      string
  nodeSelector                   map[string] atomic
  serviceAccountName             string
  serviceAccount                 string
  automountServiceAccountToken   *bool
  nodeName                       string
  hostNetwork                    bool
  hostPID                        bool
  hostIPC                        bool
  shareProcessNamespace          *bool
  securityContext                PodSecurityContext
  imagePullSecrets               []LocalObjectReference keys=name repeats merge
  hostname                       string
  subdomain                      string
  affinity                       Affinity
  schedulerName                  string
  tolerations                    []Toleration
  hostAliases                    []HostAlias keys=ip repeats merge
  priorityClassName              string
  priority                       *int32
  dnsConfig                      PodDNSConfig
  readinessGates                 []PodReadinessGate
  runtimeClassName               *string
  enableServiceLinks             *bool
  preemptionPolicy               *string
  overhead                       map[quantity]
  topologySpreadConstraints      []TopologySpreadConstraint keys=topologyKey,whenUnsatisfiable merge
  setHostnameAsFQDN              *bool
  os                             PodOS
  hostUsers                      *bool
  schedulingGates                []PodSchedulingGate keys=name merge
  resourceClaims                 []PodResourceClaim keys=name merge retain
  resources                      ResourceRequirements

Container
  name!                     string
  image                     string
  command                   []string
  args                      []string
  workingDir                string
  ports                     []ContainerPort keys=containerPort,protocol repeats merge
  envFrom                   []EnvFromSource
  env                       []EnvVar keys=name repeats merge
  resources                 ResourceRequirements
  resizePolicy              []ContainerResizePolicy
  restartPolicy             *string
  volumeMounts              []VolumeMount keys=mountPath merge
  volumeDevices             []VolumeDevice keys=devicePath merge
  livenessProbe             Probe
  readinessProbe            Probe
  startupProbe              Probe
  lifecycle                 Lifecycle
  terminationMessagePath    string
  terminationMessagePolicy  string
  imagePullPolicy           string
  securityContext           SecurityContext
  stdin                     bool
  stdinOnce                 bool
  tty                       bool

EphemeralContainer
  name!                     string
  image                     string
  command                   []string
  args                      []string
  workingDir                string
  ports                     []ContainerPort keys=containerPort,protocol repeats merge
  envFrom                   []EnvFromSource
  env                       []EnvVar keys=name repeats merge
  resources                 ResourceRequirements
  resizePolicy              []ContainerResizePolicy
  restartPolicy             *string
  volumeMounts              []VolumeMount keys=mountPath merge
  volumeDevices             []VolumeDevice keys=devicePath merge
  livenessProbe             Probe
  readinessProbe            Probe
  startupProbe              Probe
  lifecycle                 Lifecycle
  terminationMessagePath    string
  terminationMessagePolicy  string
  imagePullPolicy           string
  securityContext           SecurityContext
  stdin                     bool
  stdinOnce                 bool
  tty                       bool
  targetContainerName       string

ContainerPort
  name            string
  hostPort        int32
  containerPort!  int32
  protocol        string default=TCP
  hostIP          string

EnvVar
  name!      string
  value      string
  valueFrom  EnvVarSource

EnvVarSource
  fieldRef          ObjectFieldSelector
  resourceFieldRef  ResourceFieldSelector
  configMapKeyRef   KeySelector
  secretKeyRef      KeySelector

ObjectFieldSelector atomic
  apiVersion  string
  fieldPath!  string

ResourceFieldSelector atomic
  containerName  string
  resource!      string
  divisor        quantity

KeySelector atomic
  name      string default=
  key!      string
  optional  *bool

EnvFromSource
  prefix        string
  configMapRef  EnvSource
  secretRef     EnvSource

EnvSource
  name      string default=
  optional  *bool

ResourceRequirements
  limits    map[quantity]
  requests  map[quantity]
  claims    []ResourceClaim keys=name

ResourceClaim
  name!    string
  request  string

ContainerResizePolicy
  resourceName!   string
  restartPolicy!  string

VolumeMount
  name!              string
  readOnly           bool
  recursiveReadOnly  *string
  mountPath!         string
  subPath            string
  mountPropagation   *string
  subPathExpr        string

VolumeDevice
  name!        string
  devicePath!  string

Probe
  exec                           ExecAction
  httpGet                        HTTPGetAction
  tcpSocket                      TCPSocketAction
  grpc                           GRPCAction
  initialDelaySeconds            int32
  timeoutSeconds                 int32
  periodSeconds                  int32
  successThreshold               int32
  failureThreshold               int32
  terminationGracePeriodSeconds  *int64

Lifecycle
  postStart   LifecycleHandler
  preStop     LifecycleHandler
  stopSignal  *string

LifecycleHandler
  exec       ExecAction
  httpGet    HTTPGetAction
  tcpSocket  TCPSocketAction
  sleep      SleepAction

ExecAction
  command  []string

HTTPGetAction
  path         string
  port!        intstr
  host         string
  scheme       string
  httpHeaders  []HTTPHeader

HTTPHeader
  name!   string
  value!  string

TCPSocketAction
  port!  intstr
  host   string

GRPCAction
  port!    int32
  service  *string default=

SleepAction
  seconds!  int64

SecurityContext
  capabilities              Capabilities
  privileged                *bool
  seLinuxOptions            SELinuxOptions
  windowsOptions            WindowsSecurityContextOptions
  runAsUser                 *int64
  runAsGroup                *int64
  runAsNonRoot              *bool
  readOnlyRootFilesystem    *bool
  allowPrivilegeEscalation  *bool
  procMount                 *string
  seccompProfile            SecurityProfile
  appArmorProfile           SecurityProfile

PodSecurityContext
  seLinuxOptions            SELinuxOptions
  windowsOptions            WindowsSecurityContextOptions
  runAsUser                 *int64
  runAsGroup                *int64
  runAsNonRoot              *bool
  supplementalGroups        []int64
  supplementalGroupsPolicy  *string
  fsGroup                   *int64
  sysctls                   []Sysctl
  fsGroupChangePolicy       *string
  seccompProfile            SecurityProfile
  appArmorProfile           SecurityProfile
  seLinuxChangePolicy       *string

Capabilities
  add   []string
  drop  []string

SELinuxOptions
  user   string
  role   string
  type   string
  level  string

WindowsSecurityContextOptions
  gmsaCredentialSpecName  *string
  gmsaCredentialSpec      *string
  runAsUserName           *string
  hostProcess             *bool

SecurityProfile
  type!             string
  localhostProfile  *string

Sysctl
  name!   string
  value!  string

Affinity
  nodeAffinity     NodeAffinity
  podAffinity      PodAffinity
  podAntiAffinity  PodAffinity

NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution   NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution  []PreferredSchedulingTerm

NodeSelector atomic
  nodeSelectorTerms!  []NodeSelectorTerm

NodeSelectorTerm atomic
  matchExpressions  []NodeSelectorRequirement
  matchFields       []NodeSelectorRequirement

NodeSelectorRequirement
  key!       string
  operator!  string
  values     []string

PreferredSchedulingTerm
  weight!      int32
  preference!  NodeSelectorTerm

PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution   []PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution  []WeightedPodAffinityTerm

PodAffinityTerm
  labelSelector      LabelSelector
  namespaces         []string
  topologyKey!       string
  namespaceSelector  LabelSelector
  matchLabelKeys     []string
  mismatchLabelKeys  []string

WeightedPodAffinityTerm
  weight!           int32
  podAffinityTerm!  PodAffinityTerm

Toleration
  key                string
  operator           string
  value              string
  effect             string
  tolerationSeconds  *int64

HostAlias
  ip!        string
  hostnames  []string

PodDNSConfig
  nameservers  []string
  searches     []string
  options      []PodDNSConfigOption

PodDNSConfigOption
  name   string
  value  *string

PodReadinessGate
  conditionType!  string

TopologySpreadConstraint
  maxSkew!            int32
  topologyKey!        string
  whenUnsatisfiable!  string
  labelSelector       LabelSelector
  minDomains          *int32
  nodeAffinityPolicy  *string
  nodeTaintsPolicy    *string
  matchLabelKeys      []string

PodOS
  name!  string

PodSchedulingGate
  name!  string

PodResourceClaim
  name!                      string
  resourceClaimName          *string
  resourceClaimTemplateName  *string
)";

}  // namespace muster::kube
