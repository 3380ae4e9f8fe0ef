#include "apiserver/internal/types/builtin_types.h"

#include "apiserver/aggregation/extension_server.h"
#include "apiserver/internal/api_services/api_service_strategy.h"
#include "apiserver/internal/conversions/event_versions.h"
#include "apiserver/internal/disruption/budget.h"
#include "apiserver/internal/strategies/policy_strategy.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/strategies/webhook_strategy.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/internal/types/unset_objects.h"
#include "apiserver/resources/access_types.h"
#include "apiserver/resources/registry.h"
#include "base/lower_case.h"

namespace muster::apiserver {

namespace {

DefPtr pods() {
    ResourceDef def = builtin(kube::types::kPods);
    def.short_names = {"po"};
    def.categories = {"all"};
    def.strategy = pod_strategy();
    def.has_status = true;
    def.other_subresources = {"attach", "binding", "ephemeralcontainers", "eviction",
                              "exec",   "log",     "portforward"};
    def.tracks_generation = true;
    def.returns_deleted = true;
    def.deletes_gracefully = true;
    def.strict_field_labels = true;
    def.selectable_fields = {
        "spec.nodeName",    "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase",       "status.podIP",       "status.nominatedNodeName"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr services() {
    ResourceDef def = builtin(kube::types::kServices);
    def.short_names = {"svc"};
    def.categories = {"all"};
    def.strategy = service_strategy();
    def.name_rule = NameRule::kDns1035Label;
    def.has_status = true;
    def.create_on_update = true;
    def.returns_deleted = true;
    def.strict_field_labels = true;
    def.selectable_fields = {"spec.clusterIP", "spec.type"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr namespaces() {
    ResourceDef def = builtin(kube::types::kNamespaces);
    def.short_names = {"ns"};
    def.strategy = namespace_strategy();
    def.name_rule = NameRule::kDnsLabel;
    def.has_status = true;
    def.other_subresources = {"finalize"};
    def.has_spec_finalizers = true;
    def.returns_deleted = true;
    def.strict_field_labels = true;
    def.selectable_fields = {"status.phase"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr nodes() {
    ResourceDef def = builtin(kube::types::kNodes);
    def.short_names = {"no"};
    def.has_status = true;
    def.strict_field_labels = true;
    def.selectable_fields = {"spec.unschedulable"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr config_maps() {
    ResourceDef def = builtin(kube::types::kConfigMaps);
    def.short_names = {"cm"};
    def.strategy = config_map_strategy();
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr secrets() {
    ResourceDef def = builtin(kube::types::kSecrets);
    def.strategy = secret_strategy();
    def.strict_field_labels = true;
    def.selectable_fields = {"type"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr events() {
    ResourceDef def = builtin(kube::types::kEvents);
    def.short_names = {"ev"};
    def.strategy = core_event_strategy();
    def.conversion = &kCoreEventConversion;
    def.create_on_update = true;
    def.strict_field_labels = true;
    def.selectable_fields = {"involvedObject.kind",
                             "involvedObject.namespace",
                             "involvedObject.name",
                             "involvedObject.uid",
                             "involvedObject.apiVersion",
                             "involvedObject.resourceVersion",
                             "involvedObject.fieldPath",
                             "reason",
                             "reportingComponent",
                             "source",
                             "type"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

/// The same objects in the newer API.
DefPtr new_events() {
    ResourceDef def = builtin({"events.k8s.io", "v1", "events", "Event"});
    def.schema = kube::core_schema("NewEvent");
    def.short_names = {"ev"};
    def.strategy = new_event_strategy();
    def.storage_version = false;
    def.storage_api_version = kube::types::kEvents.api_version();
    def.stored_as = kube::types::kEvents.qualified();
    def.conversion = &kEventsApiConversion;
    def.create_on_update = true;
    def.strict_field_labels = true;
    def.selectable_fields = {"reason",
                             "regarding.kind",
                             "regarding.namespace",
                             "regarding.name",
                             "regarding.uid",
                             "regarding.apiVersion",
                             "regarding.resourceVersion",
                             "regarding.fieldPath",
                             "reportingController",
                             "type"};
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr service_accounts() {
    ResourceDef def = builtin(kube::types::kServiceAccounts);
    def.short_names = {"sa"};
    def.other_subresources = {"token"};
    def.returns_deleted = true;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr leases() {
    ResourceDef def = builtin(kube::types::kLeases);
    def.strategy = lease_strategy();
    def.unconditional_update = false;
    def.create_on_update = true;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr disruption_budgets() {
    ResourceDef def = builtin(kDisruptionBudgets);
    def.short_names = {"pdb"};
    def.strategy = disruption_budget_strategy();
    def.has_status = true;
    def.tracks_generation = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr webhook_configurations(const char* plural, const char* kind) {
    ResourceDef def =
        builtin({"admissionregistration.k8s.io", "v1", plural, kind, /*namespaced=*/false});
    def.categories = {"api-extensions"};
    def.strategy = webhook_strategy();
    def.tracks_generation = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr admission_policies() {
    ResourceDef def = builtin({"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                               "ValidatingAdmissionPolicy", /*namespaced=*/false});
    def.categories = {"api-extensions"};
    def.strategy = policy_strategy();
    def.has_status = true;
    def.tracks_generation = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr admission_policy_bindings() {
    ResourceDef def =
        builtin({"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
                 "ValidatingAdmissionPolicyBinding", /*namespaced=*/false});
    def.categories = {"api-extensions"};
    def.strategy = policy_binding_strategy();
    def.tracks_generation = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr custom_resource_definitions(ReadDefinition& read) {
    ResourceDef def = builtin(kube::types::kCustomResourceDefinitions);
    def.short_names = {"crd", "crds"};
    def.categories = {"api-extensions"};
    def.strategy = crd_strategy(read);
    def.has_status = true;
    def.tracks_generation = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr api_services() {
    ResourceDef def = builtin(kApiServices);
    def.categories = {"api-extensions"};
    def.name_rule = NameRule::kPathSegment;
    def.strategy = api_service_strategy();
    def.has_status = true;
    def.unconditional_update = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

/// A kind for reviews.
DefPtr question(const kube::ResourceType& type) {
    ResourceDef def = builtin(type);
    def.stored = false;
    def.storage_version = false;
    return std::make_shared<const ResourceDef>(std::move(def));
}

/// The kinds of access control.
DefPtr access_kind(const kube::ResourceType& type, Strategy rules) {
    ResourceDef def = builtin(type);
    def.name_rule = NameRule::kPathSegment;
    def.strategy = std::move(rules);
    def.create_on_update = true;
    return std::make_shared<const ResourceDef>(std::move(def));
}

DefPtr metrics_kind(const char* plural, const char* kind, bool namespaced) {
    ResourceDef def = builtin({"metrics.k8s.io", "v1beta1", plural, kind, namespaced});
    def.is_metrics = true;
    return std::make_shared<const ResourceDef>(std::move(def));
}

}  // namespace

ResourceDef builtin(const kube::ResourceType& type) {
    ResourceDef def;
    def.type = type;
    def.list_kind = type.kind + "List";
    def.singular = lower_case(type.kind);
    def.schema = kube::core_schema(type.kind);
    def.storage_api_version = type.api_version();
    def.unset = unset_object(type.api_version(), type.kind);
    return def;
}

std::vector<DefPtr> builtin_types(ReadDefinition& read) {
    std::vector<DefPtr> types = {
        namespaces(),
        pods(),
        services(),
        config_maps(),
        secrets(),
        events(),
        new_events(),
        nodes(),
        service_accounts(),
        leases(),
        disruption_budgets(),
        access_kind(kRoles, role_strategy()),
        access_kind(kRoleBindings, role_binding_strategy()),
        access_kind(kClusterRoles, cluster_role_strategy()),
        access_kind(kClusterRoleBindings, cluster_role_binding_strategy()),
        question(kSubjectAccessReviews),
        question(kSelfSubjectAccessReviews),
        question(kLocalSubjectAccessReviews),
        question(kSelfSubjectRulesReviews),
        question(kSelfSubjectReviews),
        question(kTokenReviews),
        custom_resource_definitions(read),
        api_services(),
        metrics_kind("pods", "PodMetrics", true),
        metrics_kind("nodes", "NodeMetrics", false),
        admission_policies(),
        admission_policy_bindings(),
        webhook_configurations("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
        webhook_configurations("validatingwebhookconfigurations",
                               "ValidatingWebhookConfiguration")};
    for (DefPtr& type : stored_types()) types.push_back(std::move(type));
    return types;
}

}  // namespace muster::apiserver
