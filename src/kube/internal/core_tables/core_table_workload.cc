#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kWorkloadTable = R"(
Deployment
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        DeploymentSpec
  status      DeploymentStatus

DeploymentSpec
  minReadySeconds          int32
  paused                   bool
  progressDeadlineSeconds  *int32
  replicas                 *int32
  revisionHistoryLimit     *int32
  selector!                LabelSelector
  strategy                 DeploymentStrategy
  template!                PodTemplateSpec

DeploymentStatus
  availableReplicas    int32
  collisionCount       *int32
  conditions           []DeploymentCondition keys=type merge
  observedGeneration   int64
  readyReplicas        int32
  replicas             int32
  terminatingReplicas  *int32
  unavailableReplicas  int32
  updatedReplicas      int32

DeploymentStrategy
  rollingUpdate  RollingUpdateDeployment
  type           string

DeploymentCondition
  lastTransitionTime  time
  lastUpdateTime      time
  message             string
  reason              string
  status              *string
  type                *string

RollingUpdateDeployment
  maxSurge        intstr
  maxUnavailable  intstr

ReplicaSet
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ReplicaSetSpec
  status      ReplicaSetStatus

ReplicaSetSpec
  minReadySeconds  int32
  replicas         *int32
  selector!        LabelSelector
  template         PodTemplateSpec

ReplicaSetStatus
  availableReplicas     int32
  conditions            []KindCondition keys=type merge
  fullyLabeledReplicas  int32
  observedGeneration    int64
  readyReplicas         int32
  replicas              *int32
  terminatingReplicas   *int32

StatefulSet
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        StatefulSetSpec
  status      StatefulSetStatus

StatefulSetSpec
  minReadySeconds                       int32
  ordinals                              StatefulSetOrdinals
  persistentVolumeClaimRetentionPolicy  StatefulSetPersistentVolumeClaimRetentionPolicy
  podManagementPolicy                   string
  replicas                              *int32
  revisionHistoryLimit                  *int32
  selector!                             LabelSelector
  serviceName                           *string
  template!                             PodTemplateSpec
  updateStrategy                        StatefulSetUpdateStrategy
  volumeClaimTemplates                  []PersistentVolumeClaim

StatefulSetStatus
  availableReplicas   *int32
  collisionCount      *int32
  conditions          []KindCondition keys=type merge
  currentReplicas     int32
  currentRevision     string
  observedGeneration  int64
  readyReplicas       int32
  replicas            *int32
  updateRevision      string
  updatedReplicas     int32

StatefulSetOrdinals
  start  *int32

StatefulSetPersistentVolumeClaimRetentionPolicy
  whenDeleted  string
  whenScaled   string

StatefulSetUpdateStrategy
  rollingUpdate  RollingUpdateStatefulSetStrategy
  type           string

RollingUpdateStatefulSetStrategy
  maxUnavailable  intstr
  partition       *int32

DaemonSet
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        DaemonSetSpec
  status      DaemonSetStatus

DaemonSetSpec
  minReadySeconds       int32
  revisionHistoryLimit  *int32
  selector!             LabelSelector
  template!             PodTemplateSpec
  updateStrategy        DaemonSetUpdateStrategy

DaemonSetStatus
  collisionCount          *int32
  conditions              []KindCondition keys=type merge
  currentNumberScheduled  *int32
  desiredNumberScheduled  *int32
  numberAvailable         int32
  numberMisscheduled      *int32
  numberReady             *int32
  numberUnavailable       int32
  observedGeneration      int64
  updatedNumberScheduled  int32

DaemonSetUpdateStrategy
  rollingUpdate  RollingUpdateDaemonSet
  type           string

RollingUpdateDaemonSet
  maxSurge        intstr
  maxUnavailable  intstr

ControllerRevision
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  data        object
  revision    *int64

Job
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        JobSpec
  status      JobStatus

JobSpec
  activeDeadlineSeconds    *int64
  backoffLimit             *int32
  backoffLimitPerIndex     *int32
  completionMode           *string
  completions              *int32
  managedBy                *string
  manualSelector           *bool
  maxFailedIndexes         *int32
  parallelism              *int32
  podFailurePolicy         PodFailurePolicy
  podReplacementPolicy     *string
  selector                 LabelSelector
  successPolicy            SuccessPolicy
  suspend                  *bool
  template!                PodTemplateSpec
  ttlSecondsAfterFinished  *int32

JobStatus
  active                   int32
  completedIndexes         string
  completionTime           time
  conditions               []JobCondition merge=type
  failed                   int32
  failedIndexes            *string
  ready                    *int32
  startTime                time
  succeeded                int32
  terminating              *int32
  uncountedTerminatedPods  UncountedTerminatedPods

PodFailurePolicy
  rules!  []PodFailurePolicyRule

SuccessPolicy
  rules!  []SuccessPolicyRule

JobCondition
  lastProbeTime       time
  lastTransitionTime  time
  message             string
  reason              string
  status              *string
  type                *string

UncountedTerminatedPods
  failed     []string set
  succeeded  []string set

PodFailurePolicyRule
  action!          string
  onExitCodes      PodFailurePolicyOnExitCodesRequirement
  onPodConditions  []PodFailurePolicyOnPodConditionsPattern

SuccessPolicyRule
  succeededCount    *int32
  succeededIndexes  *string

PodFailurePolicyOnExitCodesRequirement
  containerName  *string
  operator!      string
  values!        []int32 set

PodFailurePolicyOnPodConditionsPattern
  status  *string
  type!   string

CronJob
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        CronJobSpec
  status      CronJobStatus

CronJobSpec
  concurrencyPolicy           string
  failedJobsHistoryLimit      *int32
  jobTemplate!                JobTemplateSpec
  schedule!                   string
  startingDeadlineSeconds     *int64
  successfulJobsHistoryLimit  *int32
  suspend                     *bool
  timeZone                    *string

CronJobStatus
  active              []ObjectReference
  lastScheduleTime    time
  lastSuccessfulTime  time

JobTemplateSpec
  metadata  ObjectMeta
  spec      JobSpec

PodTemplate
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  template    PodTemplateSpec

ReplicationController
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ReplicationControllerSpec
  status      ReplicationControllerStatus

ReplicationControllerSpec
  minReadySeconds  int32
  replicas         *int32 default=1
  selector         map[string] atomic
  template         PodTemplateSpec

ReplicationControllerStatus
  availableReplicas     int32
  conditions            []KindCondition keys=type merge
  fullyLabeledReplicas  int32
  observedGeneration    int64
  readyReplicas         int32
  replicas              *int32
)";

}  // namespace muster::kube
