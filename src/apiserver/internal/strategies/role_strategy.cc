#include <algorithm>

#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"
#include "kube/values/equality.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

const json::object kNothing;

const json::object& child(const json::object& parent, std::string_view key) {
    const json::object* found = object_at(parent, key);
    return found == nullptr ? kNothing : *found;
}

bool has_entries(const json::object& parent, std::string_view key) {
    const json::array* entries = array_at(parent, key);
    return entries != nullptr && !entries->empty();
}

// Roles.

void set_role_defaults(json::object& role) {
    if (role["rules"].is_null()) role["rules"].emplace_array();
}

void check_rule(const json::object& rule, bool namespaced, const std::string& field,
                Causes& causes) {
    if (!has_entries(rule, "verbs"))
        causes.push_back(required(field + ".verbs", "verbs must contain at least one value"));
    if (has_entries(rule, "nonResourceURLs")) {
        const json::value urls = *rule.if_contains("nonResourceURLs");
        if (namespaced)
            causes.push_back(invalid_value(field + ".nonResourceURLs", urls,
                                           "namespaced rules cannot apply to non-resource URLs"));
        if (has_entries(rule, "apiGroups") || has_entries(rule, "resources") ||
            has_entries(rule, "resourceNames"))
            causes.push_back(
                invalid_value(field + ".nonResourceURLs", urls,
                              "rules cannot apply to both regular resources and non-resource "
                              "URLs"));
        return;
    }
    if (!has_entries(rule, "apiGroups"))
        causes.push_back(
            required(field + ".apiGroups", "resource rules must supply at least one api group"));
    if (!has_entries(rule, "resources"))
        causes.push_back(
            required(field + ".resources", "resource rules must supply at least one resource"));
}

void check_rules(const json::object& role, bool namespaced, Causes& causes) {
    const json::array* rules = array_at(role, "rules");
    if (rules == nullptr) return;
    for (std::size_t i = 0; i < rules->size(); ++i)
        if (const json::object* rule = (*rules)[i].if_object())
            check_rule(*rule, namespaced, fmt::format("rules[{}]", i), causes);
}

void check_selector(const json::object& selector, const std::string& field, Causes& causes) {
    check_labels(child(selector, "matchLabels"), field + ".matchLabels", causes);
    const json::array* expressions = array_at(selector, "matchExpressions");
    if (expressions == nullptr) return;
    for (std::size_t i = 0; i < expressions->size(); ++i) {
        const json::object* one = (*expressions)[i].if_object();
        if (one == nullptr) continue;
        const std::string at = fmt::format("{}.matchExpressions[{}]", field, i);
        const std::string_view op = string_at(*one, "operator");
        const bool has_values = has_entries(*one, "values");
        if (op == "In" || op == "NotIn") {
            if (!has_values)
                causes.push_back(required(at + ".values",
                                          "must be specified when `operator` is 'In' or 'NotIn'"));
        } else if (op == "Exists" || op == "DoesNotExist") {
            if (has_values)
                causes.push_back(forbidden_field(
                    at + ".values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        } else {
            causes.push_back(
                invalid_value(at + ".operator", json::value(op), "not a valid selector operator"));
        }
        if (!is_qualified_name(string_at(*one, "key")))
            causes.push_back(invalid_value(at + ".key", json::value(string_at(*one, "key")),
                                           kQualifiedNameMessage));
    }
}

void check_aggregation(const json::object& role, Causes& causes) {
    const json::object* aggregation = object_at(role, "aggregationRule");
    if (aggregation == nullptr) return;
    const std::string field = "aggregationRule.clusterRoleSelectors";
    if (!has_entries(*aggregation, "clusterRoleSelectors")) {
        causes.push_back(required(
            field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
        return;
    }
    const json::array& selectors = *array_at(*aggregation, "clusterRoleSelectors");
    for (std::size_t i = 0; i < selectors.size(); ++i)
        if (const json::object* selector = selectors[i].if_object())
            check_selector(*selector, fmt::format("{}[{}]", field, i), causes);
}

// Bindings.

void set_binding_defaults(json::object& binding) {
    json::object& role_ref = ensure_object(binding, "roleRef");
    if (string_at(role_ref, "apiGroup").empty()) role_ref["apiGroup"] = kRbacGroup;
    json::array* subjects = array_at(binding, "subjects");
    if (subjects == nullptr) return;
    for (json::value& entry : *subjects) {
        json::object* subject = entry.if_object();
        if (subject == nullptr) continue;
        const std::string_view kind = string_at(*subject, "kind");
        if ((kind == "User" || kind == "Group") && string_at(*subject, "apiGroup").empty())
            (*subject)["apiGroup"] = kRbacGroup;
    }
}

/// A binding of the whole cluster has a role of the whole cluster.
void check_role_ref(const json::object& role_ref, bool namespaced, Causes& causes) {
    const std::string_view group = string_at(role_ref, "apiGroup");
    if (group != kRbacGroup)
        causes.push_back(not_supported("roleRef.apiGroup", group, {kRbacGroup}));
    const std::string_view kind = string_at(role_ref, "kind");
    const std::string_view name = string_at(role_ref, "name");
    std::vector<std::string_view> kinds{kClusterRoles.kind};
    if (namespaced) kinds.insert(kinds.begin(), kRoles.kind);
    if (std::ranges::find(kinds, kind) == kinds.end()) {
        causes.push_back(not_supported("roleRef.kind", kind, kinds));
    } else if (name.empty()) {
        causes.push_back(required("roleRef.name"));
    } else if (name == "." || name == ".." || name.find_first_of("/%") != name.npos) {
        causes.push_back(invalid_value("roleRef.name", json::value(name),
                                       "may not be '.', '..' or contain '/' or '%'"));
    }
}

void check_subject(const json::object& subject, bool namespaced, const std::string& field,
                   Causes& causes) {
    const std::string_view kind = string_at(subject, "kind");
    const std::string_view name = string_at(subject, "name");
    const std::string_view group = string_at(subject, "apiGroup");
    if (name.empty()) causes.push_back(required(field + ".name"));
    if (kind == "ServiceAccount") {
        if (!name.empty() && !kube::is_dns1123_subdomain(name))
            causes.push_back(
                invalid_value(field + ".name", json::value(name), kDnsSubdomainMessage));
        if (!group.empty()) causes.push_back(not_supported(field + ".apiGroup", group, {""}));
        if (!namespaced && string_at(subject, "namespace").empty())
            causes.push_back(required(field + ".namespace"));
    } else if (kind == "User" || kind == "Group") {
        if (group != kRbacGroup)
            causes.push_back(not_supported(field + ".apiGroup", group, {kRbacGroup}));
    } else {
        causes.push_back(not_supported(field + ".kind", kind, {"ServiceAccount", "User", "Group"}));
    }
}

void check_binding(const json::object& binding, bool namespaced, Causes& causes) {
    check_role_ref(child(binding, "roleRef"), namespaced, causes);
    const json::array* subjects = array_at(binding, "subjects");
    if (subjects == nullptr) return;
    for (std::size_t i = 0; i < subjects->size(); ++i)
        if (const json::object* subject = (*subjects)[i].if_object())
            check_subject(*subject, namespaced, fmt::format("subjects[{}]", i), causes);
}

void keep_role_ref(const json::object& next, const json::object& current, Causes& causes) {
    const json::object& role_ref = child(next, "roleRef");
    if (!kube::equal(role_ref, child(current, "roleRef")))
        causes.push_back(invalid_value("roleRef", role_ref, "cannot change roleRef"));
}

}  // namespace

KindRules role_rules() {
    return {.apply_defaults = set_role_defaults,
            .validate = [](const json::object& role, Causes& causes) {
                check_rules(role, true, causes);
            }};
}

KindRules cluster_role_rules() {
    return {.apply_defaults = set_role_defaults,
            .validate = [](const json::object& role, Causes& causes) {
                check_rules(role, false, causes);
                check_aggregation(role, causes);
            }};
}

KindRules role_binding_rules() {
    return {.apply_defaults = set_binding_defaults,
            .validate = [](const json::object& binding,
                           Causes& causes) { check_binding(binding, true, causes); },
            .validate_update = keep_role_ref};
}

KindRules cluster_role_binding_rules() {
    return {.apply_defaults = set_binding_defaults,
            .validate = [](const json::object& binding,
                           Causes& causes) { check_binding(binding, false, causes); },
            .validate_update = keep_role_ref};
}

}  // namespace muster::apiserver
