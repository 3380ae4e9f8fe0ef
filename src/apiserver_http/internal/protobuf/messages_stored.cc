#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kStoredMessages = R"(
PersistentVolume : v1 PersistentVolume
  1 metadata ObjectMeta, 2 spec PersistentVolumeSpec, 3 status PersistentVolumeStatus

PersistentVolumeSpec
  1 capacity map[quantity], 2 . PersistentVolumeSource, 3 accessModes []string,
  4 claimRef ObjectReference, 5 persistentVolumeReclaimPolicy string, 6 storageClassName string,
  7 mountOptions []string, 8 volumeMode *string, 9 nodeAffinity VolumeNodeAffinity,
  10 volumeAttributesClassName *string

PersistentVolumeStatus
  1 phase string, 2 message string, 3 reason string, 4 lastPhaseTransitionTime time

PersistentVolumeSource
  1 gcePersistentDisk GCEPersistentDiskVolumeSource,
  2 awsElasticBlockStore AWSElasticBlockStoreVolumeSource, 3 hostPath HostPathVolumeSource,
  4 glusterfs GlusterfsPersistentVolumeSource, 5 nfs NFSVolumeSource,
  6 rbd RBDPersistentVolumeSource, 7 iscsi ISCSIPersistentVolumeSource,
  8 cinder CinderPersistentVolumeSource, 9 cephfs CephFSPersistentVolumeSource,
  10 fc FCVolumeSource, 11 flocker FlockerVolumeSource, 12 flexVolume FlexPersistentVolumeSource,
  13 azureFile AzureFilePersistentVolumeSource, 14 vsphereVolume VsphereVirtualDiskVolumeSource,
  15 quobyte QuobyteVolumeSource, 16 azureDisk AzureDiskVolumeSource,
  17 photonPersistentDisk PhotonPersistentDiskVolumeSource, 18 portworxVolume PortworxVolumeSource,
  19 scaleIO ScaleIOPersistentVolumeSource, 20 local LocalVolumeSource,
  21 storageos StorageOSPersistentVolumeSource, 22 csi CSIPersistentVolumeSource

VolumeNodeAffinity
  1 required NodeSelector

GlusterfsPersistentVolumeSource
  1 endpoints! string, 2 path! string, 3 readOnly bool, 4 endpointsNamespace *string

RBDPersistentVolumeSource
  1 monitors []string, 2 image! string, 3 fsType string, 4 pool string, 5 user string,
  6 keyring string, 7 secretRef SecretReference, 8 readOnly bool

ISCSIPersistentVolumeSource
  1 targetPortal! string, 2 iqn! string, 3 lun! int32, 4 iscsiInterface string, 5 fsType string,
  6 readOnly bool, 7 portals []string, 8 chapAuthDiscovery bool, 10 secretRef SecretReference,
  11 chapAuthSession bool, 12 initiatorName *string

CinderPersistentVolumeSource
  1 volumeID! string, 2 fsType string, 3 readOnly bool, 4 secretRef SecretReference

CephFSPersistentVolumeSource
  1 monitors []string, 2 path string, 3 user string, 4 secretFile string,
  5 secretRef SecretReference, 6 readOnly bool

FlexPersistentVolumeSource
  1 driver! string, 2 fsType string, 3 secretRef SecretReference, 4 readOnly bool,
  5 options map[string]

AzureFilePersistentVolumeSource
  1 secretName! string, 2 shareName! string, 3 readOnly bool, 4 secretNamespace *string

ScaleIOPersistentVolumeSource
  1 gateway! string, 2 system! string, 3 secretRef SecretReference, 4 sslEnabled bool,
  5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string,
  9 fsType string, 10 readOnly bool

LocalVolumeSource
  1 path! string, 2 fsType *string

StorageOSPersistentVolumeSource
  1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool,
  5 secretRef ObjectReference

CSIPersistentVolumeSource
  1 driver! string, 2 volumeHandle! string, 3 readOnly bool, 4 fsType string,
  5 volumeAttributes map[string], 6 controllerPublishSecretRef SecretReference,
  7 nodeStageSecretRef SecretReference, 8 nodePublishSecretRef SecretReference,
  9 controllerExpandSecretRef SecretReference, 10 nodeExpandSecretRef SecretReference

SecretReference
  1 name string, 2 namespace string

ResourceQuota : v1 ResourceQuota
  1 metadata ObjectMeta, 2 spec ResourceQuotaSpec, 3 status ResourceQuotaStatus

ResourceQuotaSpec
  1 hard map[quantity], 2 scopes []string, 3 scopeSelector ScopeSelector

ResourceQuotaStatus
  1 hard map[quantity], 2 used map[quantity]

ScopeSelector
  1 matchExpressions []ScopedResourceSelectorRequirement

ScopedResourceSelectorRequirement
  1 scopeName! string, 2 operator! string, 3 values []string

LimitRange : v1 LimitRange
  1 metadata ObjectMeta, 2 spec LimitRangeSpec

LimitRangeSpec
  1 limits []LimitRangeItem

LimitRangeItem
  1 type! string, 2 max map[quantity], 3 min map[quantity], 4 default map[quantity],
  5 defaultRequest map[quantity], 6 maxLimitRequestRatio map[quantity]

PodTemplate : v1 PodTemplate
  1 metadata ObjectMeta, 2 template PodTemplateSpec

ReplicationController : v1 ReplicationController
  1 metadata ObjectMeta, 2 spec ReplicationControllerSpec, 3 status ReplicationControllerStatus

ReplicationControllerSpec
  1 replicas *int32, 2 selector map[string], 3 template PodTemplateSpec, 4 minReadySeconds int32

ReplicationControllerStatus
  1 replicas! int32, 2 fullyLabeledReplicas int32, 3 observedGeneration int64,
  4 readyReplicas int32, 5 availableReplicas int32, 6 conditions []ReplicationControllerCondition

ReplicationControllerCondition
  1 type! string, 2 status! string, 3 lastTransitionTime time, 4 reason string, 5 message string

ControllerRevision : apps/v1 ControllerRevision
  1 metadata ObjectMeta, 2 data json, 3 revision! int64

EndpointSlice : discovery.k8s.io/v1 EndpointSlice
  1 metadata ObjectMeta, 2 endpoints []Endpoint, 3 ports []EndpointSlicePort, 4 addressType! string

Endpoint
  1 addresses []string, 2 conditions EndpointConditions, 3 hostname *string,
  4 targetRef ObjectReference, 5 deprecatedTopology map[string], 6 nodeName *string, 7 zone *string,
  8 hints EndpointHints

EndpointSlicePort
  1 name *string, 2 protocol *string, 3 port *int32, 4 appProtocol *string

EndpointConditions
  1 ready *bool, 2 serving *bool, 3 terminating *bool

EndpointHints
  1 forZones []ForZone, 2 forNodes []ForNode

ForZone
  1 name! string

ForNode
  1 name! string

NetworkPolicy : networking.k8s.io/v1 NetworkPolicy
  1 metadata ObjectMeta, 2 spec NetworkPolicySpec

NetworkPolicySpec
  1 podSelector LabelSelector, 2 ingress []NetworkPolicyIngressRule,
  3 egress []NetworkPolicyEgressRule, 4 policyTypes []string

NetworkPolicyIngressRule
  1 ports []NetworkPolicyPort, 2 from []NetworkPolicyPeer

NetworkPolicyEgressRule
  1 ports []NetworkPolicyPort, 2 to []NetworkPolicyPeer

NetworkPolicyPort
  1 protocol *string, 2 port *intstr, 3 endPort *int32

NetworkPolicyPeer
  1 podSelector LabelSelector, 2 namespaceSelector LabelSelector, 3 ipBlock IPBlock

IPBlock
  1 cidr! string, 2 except []string

Ingress : networking.k8s.io/v1 Ingress
  1 metadata ObjectMeta, 2 spec IngressSpec, 3 status IngressStatus

IngressSpec
  1 defaultBackend IngressBackend, 2 tls []IngressTLS, 3 rules []IngressRule,
  4 ingressClassName *string

IngressStatus
  1 loadBalancer IngressLoadBalancerStatus

IngressBackend
  3 resource TypedLocalObjectReference, 4 service IngressServiceBackend

IngressTLS
  1 hosts []string, 2 secretName string

IngressRule
  1 host string, 2 . IngressRuleValue

IngressLoadBalancerStatus
  1 ingress []IngressLoadBalancerIngress

IngressServiceBackend
  1 name! string, 2 port ServiceBackendPort

IngressRuleValue
  1 http HTTPIngressRuleValue

IngressLoadBalancerIngress
  1 ip string, 2 hostname string, 4 ports []IngressPortStatus

ServiceBackendPort
  1 name string, 2 number int32

HTTPIngressRuleValue
  1 paths []HTTPIngressPath

IngressPortStatus
  1 port! int32, 2 protocol! string, 3 error *string

HTTPIngressPath
  1 path string, 2 backend IngressBackend, 3 pathType *string

IngressClass : networking.k8s.io/v1 IngressClass
  1 metadata ObjectMeta, 2 spec IngressClassSpec

IngressClassSpec
  1 controller string, 2 parameters IngressClassParametersReference

IngressClassParametersReference
  1 apiGroup *string, 2 kind! string, 3 name! string, 4 scope *string, 5 namespace *string

RuntimeClass : node.k8s.io/v1 RuntimeClass
  1 metadata ObjectMeta, 2 handler! string, 3 overhead Overhead, 4 scheduling Scheduling

Overhead
  1 podFixed map[quantity]

Scheduling
  1 nodeSelector map[string], 2 tolerations []Toleration

StorageClass : storage.k8s.io/v1 StorageClass
  1 metadata ObjectMeta, 2 provisioner! string, 3 parameters map[string], 4 reclaimPolicy *string,
  5 mountOptions []string, 6 allowVolumeExpansion *bool, 7 volumeBindingMode *string,
  8 allowedTopologies []TopologySelectorTerm

TopologySelectorTerm
  1 matchLabelExpressions []TopologySelectorLabelRequirement

TopologySelectorLabelRequirement
  1 key! string, 2 values []string
)";

}  // namespace muster::apiserver_http
