#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kWorkloadMessages = R"(
Deployment : apps/v1 Deployment
  1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status DeploymentStatus

DeploymentSpec
  1 replicas *int32, 2 selector LabelSelector, 3 template PodTemplateSpec,
  4 strategy DeploymentStrategy, 5 minReadySeconds int32, 6 revisionHistoryLimit *int32,
  7 paused bool, 9 progressDeadlineSeconds *int32

DeploymentStrategy
  1 type string, 2 rollingUpdate RollingUpdateDeployment

RollingUpdateDeployment
  1 maxUnavailable *intstr, 2 maxSurge *intstr

DeploymentStatus
  1 observedGeneration int64, 2 replicas int32, 3 updatedReplicas int32,
  4 availableReplicas int32, 5 unavailableReplicas int32, 6 conditions []DeploymentCondition,
  7 readyReplicas int32, 8 collisionCount *int32, 9 terminatingReplicas *int32

DeploymentCondition
  1 type! string, 2 status! string, 4 reason string, 5 message string, 6 lastUpdateTime time,
  7 lastTransitionTime time

ReplicaSet : apps/v1 ReplicaSet
  1 metadata ObjectMeta, 2 spec ReplicaSetSpec, 3 status ReplicaSetStatus

ReplicaSetSpec
  1 replicas *int32, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 minReadySeconds int32

ReplicaSetStatus
  1 replicas! int32, 2 fullyLabeledReplicas int32, 3 observedGeneration int64,
  4 readyReplicas int32, 5 availableReplicas int32, 6 conditions []ReplicaSetCondition,
  7 terminatingReplicas *int32

ReplicaSetCondition
  1 type! string, 2 status! string, 3 lastTransitionTime time, 4 reason string, 5 message string

StatefulSet : apps/v1 StatefulSet
  1 metadata ObjectMeta, 2 spec StatefulSetSpec, 3 status StatefulSetStatus

StatefulSetSpec
  1 replicas *int32, 2 selector LabelSelector, 3 template PodTemplateSpec,
  4 volumeClaimTemplates []PersistentVolumeClaim, 5 serviceName! string,
  6 podManagementPolicy string, 7 updateStrategy StatefulSetUpdateStrategy,
  8 revisionHistoryLimit *int32, 9 minReadySeconds int32,
  10 persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy,
  11 ordinals StatefulSetOrdinals

StatefulSetUpdateStrategy
  1 type string, 2 rollingUpdate RollingUpdateStatefulSetStrategy

RollingUpdateStatefulSetStrategy
  1 partition *int32, 2 maxUnavailable *intstr

StatefulSetPersistentVolumeClaimRetentionPolicy
  1 whenDeleted string, 2 whenScaled string

StatefulSetOrdinals
  1 start! int32

StatefulSetStatus
  1 observedGeneration int64, 2 replicas! int32, 3 readyReplicas int32, 4 currentReplicas int32,
  5 updatedReplicas int32, 6 currentRevision string, 7 updateRevision string,
  9 collisionCount *int32, 10 conditions []StatefulSetCondition, 11 availableReplicas! int32

StatefulSetCondition
  1 type! string, 2 status! string, 3 lastTransitionTime time, 4 reason string, 5 message string

DaemonSet : apps/v1 DaemonSet
  1 metadata ObjectMeta, 2 spec DaemonSetSpec, 3 status DaemonSetStatus

DaemonSetSpec
  1 selector LabelSelector, 2 template PodTemplateSpec, 3 updateStrategy DaemonSetUpdateStrategy,
  4 minReadySeconds int32, 6 revisionHistoryLimit *int32

DaemonSetUpdateStrategy
  1 type string, 2 rollingUpdate RollingUpdateDaemonSet

RollingUpdateDaemonSet
  1 maxUnavailable *intstr, 2 maxSurge *intstr

DaemonSetStatus
  1 currentNumberScheduled! int32, 2 numberMisscheduled! int32, 3 desiredNumberScheduled! int32,
  4 numberReady! int32, 5 observedGeneration int64, 6 updatedNumberScheduled int32,
  7 numberAvailable int32, 8 numberUnavailable int32, 9 collisionCount *int32,
  10 conditions []DaemonSetCondition

DaemonSetCondition
  1 type! string, 2 status! string, 3 lastTransitionTime time, 4 reason string, 5 message string

Job : batch/v1 Job
  1 metadata ObjectMeta, 2 spec JobSpec, 3 status JobStatus

JobSpec
  1 parallelism *int32, 2 completions *int32, 3 activeDeadlineSeconds *int64,
  4 selector LabelSelector, 5 manualSelector *bool, 6 template PodTemplateSpec,
  7 backoffLimit *int32, 8 ttlSecondsAfterFinished *int32, 9 completionMode *string,
  10 suspend *bool, 11 podFailurePolicy PodFailurePolicy, 12 backoffLimitPerIndex *int32,
  13 maxFailedIndexes *int32, 14 podReplacementPolicy *string, 15 managedBy *string,
  16 successPolicy SuccessPolicy, 17 scheduling JobSchedulingConfiguration

PodFailurePolicy
  1 rules []PodFailurePolicyRule

PodFailurePolicyRule
  1 action! string, 2 onExitCodes PodFailurePolicyOnExitCodesRequirement,
  3 onPodConditions []PodFailurePolicyOnPodConditionsPattern

PodFailurePolicyOnExitCodesRequirement
  1 containerName *string, 2 operator! string, 3 values []int32

PodFailurePolicyOnPodConditionsPattern
  1 type! string, 2 status! string

SuccessPolicy
  1 rules []SuccessPolicyRule

SuccessPolicyRule
  1 succeededIndexes *string, 2 succeededCount *int32

JobSchedulingConfiguration

JobStatus
  1 conditions []JobCondition, 2 startTime time, 3 completionTime time, 4 active int32,
  5 succeeded int32, 6 failed int32, 7 completedIndexes string,
  8 uncountedTerminatedPods UncountedTerminatedPods, 9 ready *int32, 10 failedIndexes *string,
  11 terminating *int32

JobCondition
  1 type! string, 2 status! string, 3 lastProbeTime time, 4 lastTransitionTime time,
  5 reason string, 6 message string

UncountedTerminatedPods
  1 succeeded []string, 2 failed []string

CronJob : batch/v1 CronJob
  1 metadata ObjectMeta, 2 spec CronJobSpec, 3 status CronJobStatus

CronJobSpec
  1 schedule! string, 2 startingDeadlineSeconds *int64, 3 concurrencyPolicy string,
  4 suspend *bool, 5 jobTemplate JobTemplateSpec, 6 successfulJobsHistoryLimit *int32,
  7 failedJobsHistoryLimit *int32, 8 timeZone *string

JobTemplateSpec
  1 metadata ObjectMeta, 2 spec JobSpec

CronJobStatus
  1 active []ObjectReference, 4 lastScheduleTime time, 5 lastSuccessfulTime time

Scale : autoscaling/v1 Scale
  1 metadata ObjectMeta, 2 spec ScaleSpec, 3 status ScaleStatus

ScaleSpec
  1 replicas int32

ScaleStatus
  1 replicas! int32, 2 selector string

HorizontalPodAutoscalerV1 : autoscaling/v1 HorizontalPodAutoscaler
  1 metadata ObjectMeta, 2 spec HorizontalPodAutoscalerSpecV1,
  3 status HorizontalPodAutoscalerStatusV1

HorizontalPodAutoscalerSpecV1
  1 scaleTargetRef CrossVersionObjectReference, 2 minReplicas *int32, 3 maxReplicas! int32,
  4 targetCPUUtilizationPercentage *int32

HorizontalPodAutoscalerStatusV1
  1 observedGeneration *int64, 2 lastScaleTime time, 3 currentReplicas! int32,
  4 desiredReplicas! int32, 5 currentCPUUtilizationPercentage *int32

HorizontalPodAutoscaler : autoscaling/v2 HorizontalPodAutoscaler
  1 metadata ObjectMeta, 2 spec HorizontalPodAutoscalerSpec,
  3 status HorizontalPodAutoscalerStatus

HorizontalPodAutoscalerSpec
  1 scaleTargetRef CrossVersionObjectReference, 2 minReplicas *int32, 3 maxReplicas! int32,
  4 metrics []MetricSpec, 5 behavior HorizontalPodAutoscalerBehavior

CrossVersionObjectReference
  1 kind! string, 2 name! string, 3 apiVersion string

MetricSpec
  1 type! string, 2 object ObjectMetricSource, 3 pods PodsMetricSource,
  4 resource ResourceMetricSource, 5 external ExternalMetricSource,
  7 containerResource ContainerResourceMetricSource

ObjectMetricSource
  1 describedObject CrossVersionObjectReference, 2 target MetricTarget, 3 metric MetricIdentifier

MetricTarget
  1 type! string, 2 value *quantity, 3 averageValue *quantity, 4 averageUtilization *int32

MetricIdentifier
  1 name! string, 2 selector LabelSelector

PodsMetricSource
  1 metric MetricIdentifier, 2 target MetricTarget

ResourceMetricSource
  1 name! string, 2 target MetricTarget

ExternalMetricSource
  1 metric MetricIdentifier, 2 target MetricTarget

ContainerResourceMetricSource
  1 name! string, 2 target MetricTarget, 3 container! string

HorizontalPodAutoscalerBehavior
  1 scaleUp HPAScalingRules, 2 scaleDown HPAScalingRules

HPAScalingRules
  1 selectPolicy *string, 2 policies []HPAScalingPolicy, 3 stabilizationWindowSeconds *int32,
  4 tolerance *quantity

HPAScalingPolicy
  1 type! string, 2 value! int32, 3 periodSeconds! int32

HorizontalPodAutoscalerStatus
  1 observedGeneration *int64, 2 lastScaleTime time, 3 currentReplicas int32,
  4 desiredReplicas! int32, 5 currentMetrics []MetricStatus,
  6 conditions []HorizontalPodAutoscalerCondition

MetricStatus
  1 type! string, 2 object ObjectMetricStatus, 3 pods PodsMetricStatus,
  4 resource ResourceMetricStatus, 5 external ExternalMetricStatus,
  7 containerResource ContainerResourceMetricStatus

ObjectMetricStatus
  1 metric MetricIdentifier, 2 current MetricValueStatus,
  3 describedObject CrossVersionObjectReference

MetricValueStatus
  1 value *quantity, 2 averageValue *quantity, 3 averageUtilization *int32

PodsMetricStatus
  1 metric MetricIdentifier, 2 current MetricValueStatus

ResourceMetricStatus
  1 name! string, 2 current MetricValueStatus

ExternalMetricStatus
  1 metric MetricIdentifier, 2 current MetricValueStatus

ContainerResourceMetricStatus
  1 name! string, 2 current MetricValueStatus, 3 container! string

HorizontalPodAutoscalerCondition
  1 type! string, 2 status! string, 3 lastTransitionTime time, 4 reason string, 5 message string,
  6 observedGeneration *int64

Eviction : policy/v1 Eviction
  1 metadata ObjectMeta, 2 deleteOptions DeleteOptions

PodDisruptionBudget : policy/v1 PodDisruptionBudget
  1 metadata ObjectMeta, 2 spec PodDisruptionBudgetSpec, 3 status PodDisruptionBudgetStatus

PodDisruptionBudgetSpec
  1 minAvailable *intstr, 2 selector LabelSelector, 3 maxUnavailable *intstr,
  4 unhealthyPodEvictionPolicy *string

PodDisruptionBudgetStatus
  1 observedGeneration int64, 2 disruptedPods map[time], 3 disruptionsAllowed! int32,
  4 currentHealthy! int32, 5 desiredHealthy! int32, 6 expectedPods! int32,
  7 conditions []Condition
)";

}  // namespace muster::apiserver_http
