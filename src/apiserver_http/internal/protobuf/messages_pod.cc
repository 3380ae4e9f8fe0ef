#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kPodMessages = R"(
PodSpec
  1 volumes []Volume, 2 containers []Container, 3 restartPolicy string,
  4 terminationGracePeriodSeconds *int64, 5 activeDeadlineSeconds *int64, 6 dnsPolicy string,
  7 nodeSelector map[string], 8 serviceAccountName string, 9 serviceAccount string,
  10 nodeName string, 11 hostNetwork bool, 12 hostPID bool, 13 hostIPC bool,
  14 securityContext PodSecurityContext, 15 imagePullSecrets []LocalObjectReference,
  16 hostname string, 17 subdomain string, 18 affinity Affinity, 19 schedulerName string,
  20 initContainers []Container, 21 automountServiceAccountToken *bool,
  22 tolerations []Toleration, 23 hostAliases []HostAlias, 24 priorityClassName string,
  25 priority *int32, 26 dnsConfig PodDNSConfig, 27 shareProcessNamespace *bool,
  28 readinessGates []PodReadinessGate, 29 runtimeClassName *string, 30 enableServiceLinks *bool,
  31 preemptionPolicy *string, 32 overhead map[quantity],
  33 topologySpreadConstraints []TopologySpreadConstraint,
  34 ephemeralContainers []EphemeralContainer, 35 setHostnameAsFQDN *bool, 36 os PodOS,
  37 hostUsers *bool, 38 schedulingGates []PodSchedulingGate,
  39 resourceClaims []PodResourceClaim, 40 resources ResourceRequirements,
  41 hostnameOverride *string, 43 schedulingGroup PodSchedulingGroup,
  44 evictionResponders []EvictionResponder

Container
  1 name! string, 2 image string, 3 command []string, 4 args []string, 5 workingDir string,
  6 ports []ContainerPort, 7 env []EnvVar, 8 resources ResourceRequirements,
  9 volumeMounts []VolumeMount, 10 livenessProbe Probe, 11 readinessProbe Probe,
  12 lifecycle Lifecycle, 13 terminationMessagePath string, 14 imagePullPolicy string,
  15 securityContext SecurityContext, 16 stdin bool, 17 stdinOnce bool, 18 tty bool,
  19 envFrom []EnvFromSource, 20 terminationMessagePolicy string, 21 volumeDevices []VolumeDevice,
  22 startupProbe Probe, 23 resizePolicy []ContainerResizePolicy, 24 restartPolicy *string,
  25 restartPolicyRules []ContainerRestartRule

ContainerPort
  1 name string, 2 hostPort int32, 3 containerPort! int32, 4 protocol string, 5 hostIP string

EnvVar
  1 name! string, 2 value string, 3 valueFrom EnvVarSource

EnvVarSource
  1 fieldRef ObjectFieldSelector, 2 resourceFieldRef ResourceFieldSelector,
  3 configMapKeyRef ConfigMapKeySelector, 4 secretKeyRef SecretKeySelector,
  5 fileKeyRef FileKeySelector

ConfigMapKeySelector
  1 . LocalObjectReference, 2 key! string, 3 optional *bool

SecretKeySelector
  1 . LocalObjectReference, 2 key! string, 3 optional *bool

FileKeySelector
  1 volumeName! string, 2 path! string, 3 key! string, 4 optional *bool

ResourceRequirements
  1 limits map[quantity], 2 requests map[quantity], 3 claims []ResourceClaim

ResourceClaim
  1 name! string, 2 request string

VolumeMount
  1 name! string, 2 readOnly bool, 3 mountPath! string, 4 subPath string,
  5 mountPropagation *string, 6 subPathExpr string, 7 recursiveReadOnly *string,
  8 bindMountOptions []string

Probe
  1 . ProbeHandler, 2 initialDelaySeconds int32, 3 timeoutSeconds int32, 4 periodSeconds int32,
  5 successThreshold int32, 6 failureThreshold int32, 7 terminationGracePeriodSeconds *int64

ProbeHandler
  1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 grpc GRPCAction

ExecAction
  1 command []string

HTTPGetAction
  1 path string, 2 port intstr, 3 host string, 4 scheme string, 5 httpHeaders []HTTPHeader,
  6 protocol *string

HTTPHeader
  1 name! string, 2 value! string

TCPSocketAction
  1 port intstr, 2 host string

GRPCAction
  1 port! int32, 2 service *string, 3 mode *string

Lifecycle
  1 postStart LifecycleHandler, 2 preStop LifecycleHandler, 3 stopSignal *string

LifecycleHandler
  1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 sleep SleepAction

SleepAction
  1 seconds! int64

SecurityContext
  1 capabilities Capabilities, 2 privileged *bool, 3 seLinuxOptions SELinuxOptions,
  4 runAsUser *int64, 5 runAsNonRoot *bool, 6 readOnlyRootFilesystem *bool,
  7 allowPrivilegeEscalation *bool, 8 runAsGroup *int64, 9 procMount *string,
  10 windowsOptions WindowsSecurityContextOptions, 11 seccompProfile SeccompProfile,
  12 appArmorProfile AppArmorProfile

Capabilities
  1 add []string, 2 drop []string

SELinuxOptions
  1 user string, 2 role string, 3 type string, 4 level string

WindowsSecurityContextOptions
  1 gmsaCredentialSpecName *string, 2 gmsaCredentialSpec *string, 3 runAsUserName *string,
  4 hostProcess *bool

SeccompProfile
  1 type! string, 2 localhostProfile *string

AppArmorProfile
  1 type! string, 2 localhostProfile *string

EnvFromSource
  1 prefix string, 2 configMapRef ConfigMapEnvSource, 3 secretRef SecretEnvSource

ConfigMapEnvSource
  1 . LocalObjectReference, 2 optional *bool

SecretEnvSource
  1 . LocalObjectReference, 2 optional *bool

VolumeDevice
  1 name! string, 2 devicePath! string

ContainerResizePolicy
  1 resourceName! string, 2 restartPolicy! string

ContainerRestartRule
  1 action string, 2 exitCodes ContainerRestartRuleOnExitCodes

ContainerRestartRuleOnExitCodes
  1 operator string, 2 values []int32

PodSecurityContext
  1 seLinuxOptions SELinuxOptions, 2 runAsUser *int64, 3 runAsNonRoot *bool,
  4 supplementalGroups []int64, 5 fsGroup *int64, 6 runAsGroup *int64, 7 sysctls []Sysctl,
  8 windowsOptions WindowsSecurityContextOptions, 9 fsGroupChangePolicy *string,
  10 seccompProfile SeccompProfile, 11 appArmorProfile AppArmorProfile,
  12 supplementalGroupsPolicy *string, 13 seLinuxChangePolicy *string

Sysctl
  1 name! string, 2 value! string

Affinity
  1 nodeAffinity NodeAffinity, 2 podAffinity PodAffinity, 3 podAntiAffinity PodAntiAffinity

NodeAffinity
  1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector,
  2 preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm

PreferredSchedulingTerm
  1 weight! int32, 2 preference NodeSelectorTerm

PodAffinity
  1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm,
  2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm

PodAffinityTerm
  1 labelSelector LabelSelector, 2 namespaces []string, 3 topologyKey! string,
  4 namespaceSelector LabelSelector, 5 matchLabelKeys []string, 6 mismatchLabelKeys []string

WeightedPodAffinityTerm
  1 weight! int32, 2 podAffinityTerm PodAffinityTerm

PodAntiAffinity
  1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm,
  2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm

Toleration
  1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds *int64

HostAlias
  1 ip! string, 2 hostnames []string

PodDNSConfig
  1 nameservers []string, 2 searches []string, 3 options []PodDNSConfigOption

PodDNSConfigOption
  1 name string, 2 value *string

PodReadinessGate
  1 conditionType! string

TopologySpreadConstraint
  1 maxSkew! int32, 2 topologyKey! string, 3 whenUnsatisfiable! string,
  4 labelSelector LabelSelector, 5 minDomains *int32, 6 nodeAffinityPolicy *string,
  7 nodeTaintsPolicy *string, 8 matchLabelKeys []string

EphemeralContainer
  1 . EphemeralContainerCommon, 2 targetContainerName string

EphemeralContainerCommon
  1 name! string, 2 image string, 3 command []string, 4 args []string, 5 workingDir string,
  6 ports []ContainerPort, 7 env []EnvVar, 8 resources ResourceRequirements,
  9 volumeMounts []VolumeMount, 10 livenessProbe Probe, 11 readinessProbe Probe,
  12 lifecycle Lifecycle, 13 terminationMessagePath string, 14 imagePullPolicy string,
  15 securityContext SecurityContext, 16 stdin bool, 17 stdinOnce bool, 18 tty bool,
  19 envFrom []EnvFromSource, 20 terminationMessagePolicy string, 21 volumeDevices []VolumeDevice,
  22 startupProbe Probe, 23 resizePolicy []ContainerResizePolicy, 24 restartPolicy *string,
  25 restartPolicyRules []ContainerRestartRule

PodOS
  1 name! string

PodSchedulingGate
  1 name! string

PodResourceClaim
  1 name! string, 3 resourceClaimName *string, 4 resourceClaimTemplateName *string

PodSchedulingGroup
  1 podGroupName *string

EvictionResponder
  1 name! string, 2 priority *int32

PodTemplateSpec
  1 metadata ObjectMeta, 2 spec PodSpec
)";

}  // namespace muster::apiserver_http
