#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kStorageTable = R"(
PersistentVolumeClaim
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        PersistentVolumeClaimSpec
  status      PersistentVolumeClaimStatus

PersistentVolumeClaimStatus
  accessModes                       []string
  allocatedResourceStatuses         map[string]
  allocatedResources                map[quantity]
  capacity                          map[quantity]
  conditions                        []PersistentVolumeClaimCondition keys=type merge
  currentVolumeAttributesClassName  *string
  modifyVolumeStatus                ModifyVolumeStatus
  phase                             string

PersistentVolumeClaimCondition
  lastProbeTime       time
  lastTransitionTime  time
  message             string
  reason              string
  status              *string
  type                *string

ModifyVolumeStatus
  status                           *string
  targetVolumeAttributesClassName  string

PersistentVolume
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        PersistentVolumeSpec
  status      PersistentVolumeStatus

PersistentVolumeSpec
  accessModes                    []string
  awsElasticBlockStore           AWSElasticBlockStoreVolumeSource
  azureDisk                      AzureDiskVolumeSource
  azureFile                      AzureFilePersistentVolumeSource
  capacity                       map[quantity]
  cephfs                         CephFSPersistentVolumeSource
  cinder                         CinderPersistentVolumeSource
  claimRef                       ObjectReference
  csi                            CSIPersistentVolumeSource
  fc                             FCVolumeSource
  flexVolume                     FlexPersistentVolumeSource
  flocker                        FlockerVolumeSource
  gcePersistentDisk              GCEPersistentDiskVolumeSource
  glusterfs                      GlusterfsPersistentVolumeSource
  hostPath                       HostPathVolumeSource
  iscsi                          ISCSIPersistentVolumeSource
  local                          LocalVolumeSource
  mountOptions                   []string
  nfs                            NFSVolumeSource
  nodeAffinity                   VolumeNodeAffinity
  persistentVolumeReclaimPolicy  string
  photonPersistentDisk           PhotonPersistentDiskVolumeSource
  portworxVolume                 PortworxVolumeSource
  quobyte                        QuobyteVolumeSource
  rbd                            RBDPersistentVolumeSource
  scaleIO                        ScaleIOPersistentVolumeSource
  storageClassName               string
  storageos                      StorageOSPersistentVolumeSource
  volumeAttributesClassName      *string
  volumeMode                     *string
  vsphereVolume                  VsphereVirtualDiskVolumeSource

PersistentVolumeStatus
  lastPhaseTransitionTime  time
  message                  string
  phase                    string
  reason                   string

AzureFilePersistentVolumeSource
  readOnly         bool
  secretName!      string
  secretNamespace  *string
  shareName!       string

CephFSPersistentVolumeSource
  monitors!   []string
  path        string
  readOnly    bool
  secretFile  string
  secretRef   SecretReference
  user        string

CinderPersistentVolumeSource
  fsType     string
  readOnly   bool
  secretRef  SecretReference
  volumeID!  string

CSIPersistentVolumeSource
  controllerExpandSecretRef   SecretReference
  controllerPublishSecretRef  SecretReference
  driver!                     string
  fsType                      string
  nodeExpandSecretRef         SecretReference
  nodePublishSecretRef        SecretReference
  nodeStageSecretRef          SecretReference
  readOnly                    bool
  volumeAttributes            map[string]
  volumeHandle!               string

FlexPersistentVolumeSource
  driver!    string
  fsType     string
  options    map[string]
  readOnly   bool
  secretRef  SecretReference

GlusterfsPersistentVolumeSource
  endpoints!          string
  endpointsNamespace  *string
  path!               string
  readOnly            bool

ISCSIPersistentVolumeSource
  chapAuthDiscovery  bool
  chapAuthSession    bool
  fsType             string
  initiatorName      *string
  iqn!               string
  iscsiInterface     string default=default
  lun!               int32
  portals            []string
  readOnly           bool
  secretRef          SecretReference
  targetPortal!      string

LocalVolumeSource
  fsType  *string
  path!   string

VolumeNodeAffinity
  required  NodeSelector

RBDPersistentVolumeSource
  fsType     string
  image!     string
  keyring    string default=/etc/ceph/keyring
  monitors!  []string
  pool       string default=rbd
  readOnly   bool
  secretRef  SecretReference
  user       string default=admin

ScaleIOPersistentVolumeSource
  fsType            string default=xfs
  gateway!          string
  protectionDomain  string
  readOnly          bool
  secretRef!        SecretReference
  sslEnabled        bool
  storageMode       string default=ThinProvisioned
  storagePool       string
  system!           string
  volumeName        string

StorageOSPersistentVolumeSource
  fsType           string
  readOnly         bool
  secretRef        ObjectReference
  volumeName       string
  volumeNamespace  string

SecretReference atomic
  name       string
  namespace  string

StorageClass
  apiVersion            string
  kind                  string
  metadata              ObjectMeta
  allowVolumeExpansion  *bool
  allowedTopologies     []TopologySelectorTerm
  mountOptions          []string
  parameters            map[string]
  provisioner!          string
  reclaimPolicy         *string
  volumeBindingMode     *string

TopologySelectorTerm atomic
  matchLabelExpressions  []TopologySelectorLabelRequirement

TopologySelectorLabelRequirement
  key!     string
  values!  []string
)";

}  // namespace muster::kube
