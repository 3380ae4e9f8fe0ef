#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kVolumeTable = R"(
Volume
  name!                  string
  hostPath               HostPathVolumeSource
  emptyDir               EmptyDirVolumeSource
  gcePersistentDisk      GCEPersistentDiskVolumeSource
  awsElasticBlockStore   AWSElasticBlockStoreVolumeSource
  gitRepo                GitRepoVolumeSource
  secret                 SecretVolumeSource
  nfs                    NFSVolumeSource
  iscsi                  ISCSIVolumeSource
  glusterfs              GlusterfsVolumeSource
  persistentVolumeClaim  PersistentVolumeClaimVolumeSource
  rbd                    RBDVolumeSource
  flexVolume             FlexVolumeSource
  cinder                 CinderVolumeSource
  cephfs                 CephFSVolumeSource
  flocker                FlockerVolumeSource
  downwardAPI            DownwardAPIVolumeSource
  fc                     FCVolumeSource
  azureFile              AzureFileVolumeSource
  configMap              ConfigMapVolumeSource
  vsphereVolume          VsphereVirtualDiskVolumeSource
  quobyte                QuobyteVolumeSource
  azureDisk              AzureDiskVolumeSource
  photonPersistentDisk   PhotonPersistentDiskVolumeSource
  projected              ProjectedVolumeSource
  portworxVolume         PortworxVolumeSource
  scaleIO                ScaleIOVolumeSource
  storageos              StorageOSVolumeSource
  csi                    CSIVolumeSource
  ephemeral              EphemeralVolumeSource
  image                  ImageVolumeSource

HostPathVolumeSource
  path!  string
  type   *string

EmptyDirVolumeSource
  medium     string
  sizeLimit  quantity

GCEPersistentDiskVolumeSource
  pdName!    string
  fsType     string
  partition  int32
  readOnly   bool

AWSElasticBlockStoreVolumeSource
  volumeID!  string
  fsType     string
  partition  int32
  readOnly   bool

GitRepoVolumeSource
  repository!  string
  revision     string
  directory    string

SecretVolumeSource
  secretName   string
  items        []KeyToPath
  defaultMode  *int32
  optional     *bool

ConfigMapVolumeSource
  name         string default=
  items        []KeyToPath
  defaultMode  *int32
  optional     *bool

KeyToPath
  key!   string
  path!  string
  mode   *int32

NFSVolumeSource
  server!   string
  path!     string
  readOnly  bool

ISCSIVolumeSource
  targetPortal!      string
  iqn!               string
  lun!               int32
  iscsiInterface     string default=default
  fsType             string
  readOnly           bool
  portals            []string
  chapAuthDiscovery  bool
  chapAuthSession    bool
  secretRef          LocalObjectReference
  initiatorName      *string

GlusterfsVolumeSource
  endpoints!  string
  path!       string
  readOnly    bool

PersistentVolumeClaimVolumeSource
  claimName!  string
  readOnly    bool

RBDVolumeSource
  monitors!  []string
  image!     string
  fsType     string
  pool       string default=rbd
  user       string default=admin
  keyring    string default=/etc/ceph/keyring
  secretRef  LocalObjectReference
  readOnly   bool

FlexVolumeSource
  driver!    string
  fsType     string
  secretRef  LocalObjectReference
  readOnly   bool
  options    map[string]

CinderVolumeSource
  volumeID!  string
  fsType     string
  readOnly   bool
  secretRef  LocalObjectReference

CephFSVolumeSource
  monitors!   []string
  path        string
  user        string
  secretFile  string
  secretRef   LocalObjectReference
  readOnly    bool

FlockerVolumeSource
  datasetName  string
  datasetUUID  string

DownwardAPIVolumeSource
  items        []DownwardAPIVolumeFile
  defaultMode  *int32

DownwardAPIVolumeFile
  path!             string
  fieldRef          ObjectFieldSelector
  resourceFieldRef  ResourceFieldSelector
  mode              *int32

FCVolumeSource
  targetWWNs  []string
  lun         *int32
  fsType      string
  readOnly    bool
  wwids       []string

AzureFileVolumeSource
  secretName!  string
  shareName!   string
  readOnly     bool

VsphereVirtualDiskVolumeSource
  volumePath!        string
  fsType             string
  storagePolicyName  string
  storagePolicyID    string

QuobyteVolumeSource
  registry!  string
  volume!    string
  readOnly   bool
  user       string
  group      string
  tenant     string

AzureDiskVolumeSource
  diskName!    string
  diskURI!     string
  cachingMode  *string default=ReadWrite
  fsType       *string default=ext4
  readOnly     *bool default=false
  kind         *string default=Shared

PhotonPersistentDiskVolumeSource
  pdID!   string
  fsType  string

ProjectedVolumeSource
  sources      []VolumeProjection
  defaultMode  *int32

VolumeProjection
  secret               KeysProjection
  downwardAPI          DownwardAPIProjection
  configMap            KeysProjection
  serviceAccountToken  ServiceAccountTokenProjection
  clusterTrustBundle   ClusterTrustBundleProjection

KeysProjection
  name      string default=
  items     []KeyToPath
  optional  *bool

DownwardAPIProjection
  items  []DownwardAPIVolumeFile

ServiceAccountTokenProjection
  audience           string
  expirationSeconds  *int64
  path!              string

ClusterTrustBundleProjection
  name           *string
  signerName     *string
  labelSelector  LabelSelector
  optional       *bool
  path!          string

PortworxVolumeSource
  volumeID!  string
  fsType     string
  readOnly   bool

ScaleIOVolumeSource
  gateway!          string
  system!           string
  secretRef!        LocalObjectReference
  sslEnabled        bool
  protectionDomain  string
  storagePool       string
  storageMode       string default=ThinProvisioned
  volumeName        string
  fsType            string default=xfs
  readOnly          bool

StorageOSVolumeSource
  volumeName       string
  volumeNamespace  string
  fsType           string
  readOnly         bool
  secretRef        LocalObjectReference

CSIVolumeSource
  driver!               string
  readOnly              *bool
  fsType                *string
  volumeAttributes      map[string]
  nodePublishSecretRef  LocalObjectReference

EphemeralVolumeSource
  volumeClaimTemplate  PersistentVolumeClaimTemplate

PersistentVolumeClaimTemplate
  metadata  ObjectMeta
  spec!     PersistentVolumeClaimSpec

PersistentVolumeClaimSpec
  accessModes                []string
  selector                   LabelSelector
  resources                  VolumeResourceRequirements
  volumeName                 string
  storageClassName           *string
  volumeMode                 *string
  dataSource                 TypedLocalObjectReference
  dataSourceRef              TypedObjectReference
  volumeAttributesClassName  *string

VolumeResourceRequirements
  limits    map[quantity]
  requests  map[quantity]

ImageVolumeSource
  reference   string
  pullPolicy  string
)";

}  // namespace muster::kube
