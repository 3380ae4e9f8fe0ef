#pragma once

#include "apiserver/internal/resource_def.h"

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

}  // namespace muster::apiserver
