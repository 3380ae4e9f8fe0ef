#include <algorithm>

#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"
#include "kube/values/equality.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

bool has_entries(const json::object& parent, std::string_view key) {
    const json::array* entries = array_at(parent, key);
    return entries != nullptr && !entries->empty();
}

// Roles.

void set_role_defaults(json::object& role) {
    if (role["rules"].is_null()) role["rules"].emplace_array();
}

void check_rule(const json::object& rule, bool namespaced, const std::string& field,
                FieldErrors& field_errors) {
    if (!has_entries(rule, "verbs"))
        field_errors.push_back(required(field + ".verbs", "verbs must contain at least one value"));
    if (has_entries(rule, "nonResourceURLs")) {
        const json::value urls = *rule.if_contains("nonResourceURLs");
        if (namespaced)
            field_errors.push_back(
                invalid_value(field + ".nonResourceURLs", urls,
                              "namespaced rules cannot apply to non-resource URLs"));
        if (has_entries(rule, "apiGroups") || has_entries(rule, "resources") ||
            has_entries(rule, "resourceNames"))
            field_errors.push_back(
                invalid_value(field + ".nonResourceURLs", urls,
                              "rules cannot apply to both regular resources and non-resource "
                              "URLs"));
        return;
    }
    if (!has_entries(rule, "apiGroups"))
        field_errors.push_back(
            required(field + ".apiGroups", "resource rules must supply at least one api group"));
    if (!has_entries(rule, "resources"))
        field_errors.push_back(
            required(field + ".resources", "resource rules must supply at least one resource"));
}

void check_rules(const json::object& role, bool namespaced, FieldErrors& field_errors) {
    const json::array* rules = array_at(role, "rules");
    if (rules == nullptr) return;
    for (std::size_t i = 0; i < rules->size(); ++i)
        if (const json::object* rule = (*rules)[i].if_object())
            check_rule(*rule, namespaced, fmt::format("rules[{}]", i), field_errors);
}

void check_selector(const json::object& selector, const std::string& field,
                    FieldErrors& field_errors) {
    check_labels(child(selector, "matchLabels"), field + ".matchLabels", field_errors);
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
                field_errors.push_back(required(
                    at + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
        } else if (op == "Exists" || op == "DoesNotExist") {
            if (has_values)
                field_errors.push_back(forbidden_field(
                    at + ".values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        } else {
            field_errors.push_back(
                invalid_value(at + ".operator", json::value(op), "not a valid selector operator"));
        }
        if (!is_qualified_name(string_at(*one, "key")))
            field_errors.push_back(invalid_value(at + ".key", json::value(string_at(*one, "key")),
                                                 kQualifiedNameMessage));
    }
}

void check_aggregation(const json::object& role, FieldErrors& field_errors) {
    const json::object* aggregation = object_at(role, "aggregationRule");
    if (aggregation == nullptr) return;
    const std::string field = "aggregationRule.clusterRoleSelectors";
    if (!has_entries(*aggregation, "clusterRoleSelectors")) {
        field_errors.push_back(required(
            field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
        return;
    }
    const json::array& selectors = *array_at(*aggregation, "clusterRoleSelectors");
    for (std::size_t i = 0; i < selectors.size(); ++i)
        if (const json::object* selector = selectors[i].if_object())
            check_selector(*selector, fmt::format("{}[{}]", field, i), field_errors);
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

/// A cluster-wide binding needs a cluster-wide role.
void check_role_ref(const json::object& role_ref, bool namespaced, FieldErrors& field_errors) {
    const std::string_view group = string_at(role_ref, "apiGroup");
    if (group != kRbacGroup)
        field_errors.push_back(not_supported("roleRef.apiGroup", group, {kRbacGroup}));
    const std::string_view kind = string_at(role_ref, "kind");
    const std::string_view name = string_at(role_ref, "name");
    std::vector<std::string_view> kinds{kClusterRoles.kind};
    if (namespaced) kinds.insert(kinds.begin(), kRoles.kind);
    if (std::ranges::find(kinds, kind) == kinds.end()) {
        field_errors.push_back(not_supported("roleRef.kind", kind, kinds));
    } else if (name.empty()) {
        field_errors.push_back(required("roleRef.name"));
    } else if (name == "." || name == ".." || name.find_first_of("/%") != name.npos) {
        field_errors.push_back(invalid_value("roleRef.name", json::value(name),
                                             "may not be '.', '..' or contain '/' or '%'"));
    }
}

void check_subject(const json::object& subject, bool namespaced, const std::string& field,
                   FieldErrors& field_errors) {
    const std::string_view kind = string_at(subject, "kind");
    const std::string_view name = string_at(subject, "name");
    const std::string_view group = string_at(subject, "apiGroup");
    if (name.empty()) field_errors.push_back(required(field + ".name"));
    if (kind == "ServiceAccount") {
        if (!name.empty() && !kube::is_dns1123_subdomain(name))
            field_errors.push_back(
                invalid_value(field + ".name", json::value(name), kDnsSubdomainMessage));
        if (!group.empty()) field_errors.push_back(not_supported(field + ".apiGroup", group, {""}));
        if (!namespaced && string_at(subject, "namespace").empty())
            field_errors.push_back(required(field + ".namespace"));
    } else if (kind == "User" || kind == "Group") {
        if (group != kRbacGroup)
            field_errors.push_back(not_supported(field + ".apiGroup", group, {kRbacGroup}));
    } else {
        field_errors.push_back(
            not_supported(field + ".kind", kind, {"ServiceAccount", "User", "Group"}));
    }
}

void check_binding(const json::object& binding, bool namespaced, FieldErrors& field_errors) {
    check_role_ref(child(binding, "roleRef"), namespaced, field_errors);
    const json::array* subjects = array_at(binding, "subjects");
    if (subjects == nullptr) return;
    for (std::size_t i = 0; i < subjects->size(); ++i)
        if (const json::object* subject = (*subjects)[i].if_object())
            check_subject(*subject, namespaced, fmt::format("subjects[{}]", i), field_errors);
}

void keep_role_ref(const json::object& next, const json::object& current,
                   FieldErrors& field_errors) {
    const json::object& role_ref = child(next, "roleRef");
    if (!kube::equal(role_ref, child(current, "roleRef")))
        field_errors.push_back(invalid_value("roleRef", role_ref, "cannot change roleRef"));
}

}  // namespace

Strategy role_strategy() {
    return {.apply_defaults = set_role_defaults,
            .validate = [](const json::object& role, FieldErrors& field_errors) {
                check_rules(role, true, field_errors);
            }};
}

Strategy cluster_role_strategy() {
    return {.apply_defaults = set_role_defaults,
            .validate = [](const json::object& role, FieldErrors& field_errors) {
                check_rules(role, false, field_errors);
                check_aggregation(role, field_errors);
            }};
}

Strategy role_binding_strategy() {
    return {
        .apply_defaults = set_binding_defaults,
        .validate = [](const json::object& binding,
                       FieldErrors& field_errors) { check_binding(binding, true, field_errors); },
        .validate_update = keep_role_ref};
}

Strategy cluster_role_binding_strategy() {
    return {
        .apply_defaults = set_binding_defaults,
        .validate = [](const json::object& binding,
                       FieldErrors& field_errors) { check_binding(binding, false, field_errors); },
        .validate_update = keep_role_ref};
}

}  // namespace muster::apiserver
