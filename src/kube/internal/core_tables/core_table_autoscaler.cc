#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kAutoscalerTable = R"(
HorizontalPodAutoscaler
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        HorizontalPodAutoscalerSpec
  status      HorizontalPodAutoscalerStatus

HorizontalPodAutoscalerSpec
  behavior         HorizontalPodAutoscalerBehavior
  maxReplicas!     int32
  metrics          []MetricSpec
  minReplicas      *int32
  scaleTargetRef!  CrossVersionObjectReference

HorizontalPodAutoscalerStatus
  conditions          []KindCondition keys=type merge
  currentMetrics      []MetricStatus
  currentReplicas     int32
  desiredReplicas     *int32
  lastScaleTime       time
  observedGeneration  *int64

HorizontalPodAutoscalerBehavior
  scaleDown  HPAScalingRules
  scaleUp    HPAScalingRules

MetricSpec
  containerResource  ContainerResourceMetricSource
  external           ExternalMetricSource
  object             ObjectMetricSource
  pods               PodsMetricSource
  resource           ResourceMetricSource
  type!              string

CrossVersionObjectReference
  apiVersion  string
  kind!       string
  name!       string

MetricStatus
  containerResource  ContainerResourceMetricStatus
  external           ExternalMetricStatus
  object             ObjectMetricStatus
  pods               PodsMetricStatus
  resource           ResourceMetricStatus
  type               *string

HPAScalingRules
  policies                    []HPAScalingPolicy
  selectPolicy                *string
  stabilizationWindowSeconds  *int32
  tolerance                   quantity

ContainerResourceMetricSource
  container!  string
  name!       string
  target!     MetricTarget

ExternalMetricSource
  metric!  MetricIdentifier
  target!  MetricTarget

ObjectMetricSource
  describedObject!  CrossVersionObjectReference
  metric!           MetricIdentifier
  target!           MetricTarget

PodsMetricSource
  metric!  MetricIdentifier
  target!  MetricTarget

ResourceMetricSource
  name!    string
  target!  MetricTarget

ContainerResourceMetricStatus
  container  *string
  current    MetricValueStatus
  name       *string

ExternalMetricStatus
  current  MetricValueStatus
  metric   MetricIdentifier

ObjectMetricStatus
  current          MetricValueStatus
  describedObject  CrossVersionObjectReference
  metric           MetricIdentifier

PodsMetricStatus
  current  MetricValueStatus
  metric   MetricIdentifier

ResourceMetricStatus
  current  MetricValueStatus
  name     *string

HPAScalingPolicy
  periodSeconds!  int32
  type!           string
  value!          int32

MetricTarget
  averageUtilization  *int32
  averageValue        quantity
  type!               string
  value               quantity

MetricIdentifier
  name!     string
  selector  LabelSelector

MetricValueStatus
  averageUtilization  *int32
  averageValue        quantity
  value               quantity

HorizontalPodAutoscalerV1
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        HorizontalPodAutoscalerSpecV1
  status      HorizontalPodAutoscalerStatusV1

HorizontalPodAutoscalerSpecV1
  maxReplicas!                    int32
  minReplicas                     *int32
  scaleTargetRef!                 CrossVersionObjectReference
  targetCPUUtilizationPercentage  *int32

HorizontalPodAutoscalerStatusV1
  currentCPUUtilizationPercentage  *int32
  currentReplicas                  *int32
  desiredReplicas                  *int32
  lastScaleTime                    time
  observedGeneration               *int64
)";

}  // namespace muster::kube
