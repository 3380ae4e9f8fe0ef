#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// What each built-in kind adds to the common rules.

Strategy pod_strategy();
Strategy service_strategy();
Strategy namespace_strategy();
Strategy config_map_strategy();
Strategy secret_strategy();
Strategy core_event_strategy();
Strategy new_event_strategy();  ///< of events.k8s.io/v1
Strategy lease_strategy();
Strategy disruption_budget_strategy();
Strategy role_strategy();
Strategy cluster_role_strategy();
Strategy role_binding_strategy();
Strategy cluster_role_binding_strategy();
Strategy deployment_strategy();
Strategy replica_set_strategy();
Strategy stateful_set_strategy();
Strategy daemon_set_strategy();
Strategy controller_revision_strategy();
Strategy replication_controller_strategy();
Strategy pod_template_strategy();
Strategy job_strategy();
Strategy cron_job_strategy();
Strategy autoscaler_strategy();
Strategy autoscaler_v1_strategy();  ///< of autoscaling/v1
Strategy claim_strategy();
Strategy volume_strategy();
Strategy storage_class_strategy();
Strategy endpoints_strategy();
Strategy endpoint_slice_strategy();
Strategy network_policy_strategy();
Strategy ingress_strategy();
Strategy ingress_class_strategy();
Strategy resource_quota_strategy();
Strategy limit_range_strategy();
Strategy priority_class_strategy();
Strategy runtime_class_strategy();

}  // namespace muster::apiserver
