#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// What each built-in kind adds to the common rules.

KindRules pod_rules();
KindRules service_rules();
KindRules namespace_rules();
KindRules config_map_rules();
KindRules secret_rules();
KindRules core_event_rules();
KindRules new_event_rules();  ///< of events.k8s.io/v1
KindRules lease_rules();
KindRules disruption_budget_rules();
KindRules role_rules();
KindRules cluster_role_rules();
KindRules role_binding_rules();
KindRules cluster_role_binding_rules();
KindRules deployment_rules();
KindRules replica_set_rules();
KindRules stateful_set_rules();
KindRules daemon_set_rules();
KindRules controller_revision_rules();
KindRules replication_controller_rules();
KindRules pod_template_rules();
KindRules job_rules();
KindRules cron_job_rules();
KindRules autoscaler_rules();
KindRules autoscaler_v1_rules();  ///< of autoscaling/v1
KindRules claim_rules();
KindRules volume_rules();
KindRules storage_class_rules();
KindRules endpoints_rules();
KindRules endpoint_slice_rules();
KindRules network_policy_rules();
KindRules ingress_rules();
KindRules ingress_class_rules();
KindRules resource_quota_rules();
KindRules limit_range_rules();
KindRules priority_class_rules();
KindRules runtime_class_rules();

}  // namespace muster::apiserver
