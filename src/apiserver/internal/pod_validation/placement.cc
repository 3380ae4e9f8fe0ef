#include "apiserver/internal/pod_validation/placement.h"

#include <algorithm>
#include <set>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr const char* kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";

void check_toleration(const json::object& toleration, const std::string& field,
                      FieldErrors& field_errors) {
    const std::string_view key = string_at(toleration, "key");
    const std::string_view wanted = string_at(toleration, "operator");
    const std::string_view effect = string_at(toleration, "effect");
    const std::string_view value = string_at(toleration, "value");
    if (!key.empty()) check_qualified_name(key, field + ".key", field_errors);
    if (key.empty() && wanted != "Exists")
        field_errors.push_back(
            invalid_value(field + ".operator", json::value(wanted),
                          "operator must be Exists when `key` is empty, which means \"match all "
                          "values and all keys\""));
    if (int_at(toleration, "tolerationSeconds") && effect != "NoExecute")
        field_errors.push_back(
            invalid_value(field + ".effect", json::value(effect),
                          "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (wanted.empty() || wanted == "Equal") {
        check_label_value(value, field + ".operator", field_errors);
    } else if (wanted == "Exists") {
        if (!value.empty())
            field_errors.push_back(
                invalid_value(field + ".operator", json::value(value),
                              "value must be empty when `operator` is 'Exists'"));
    } else {
        field_errors.push_back(not_supported(field + ".operator", wanted, {"Equal", "Exists"}));
    }
    if (!effect.empty())
        check_choice(toleration, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}, field,
                     field_errors);
}

/// Whether a node has to match, or is to be preferred; then any value may be named.
enum class Terms { kRequired, kPreferred };

void check_node_requirement(const json::object& requirement, Terms terms, const std::string& field,
                            FieldErrors& field_errors) {
    const std::string_view wanted = string_at(requirement, "operator");
    const std::vector<std::string> values = strings_at(requirement, "values");
    if (wanted == "In" || wanted == "NotIn") {
        if (values.empty())
            field_errors.push_back(required(
                field + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (wanted == "Exists" || wanted == "DoesNotExist") {
        if (!values.empty())
            field_errors.push_back(
                forbidden_field(field + ".values",
                                "may not be specified when `operator` is 'Exists' or "
                                "'DoesNotExist'"));
    } else if (wanted == "Gt" || wanted == "Lt") {
        if (values.size() != 1)
            field_errors.push_back(
                required(field + ".values",
                         "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    } else {
        field_errors.push_back(invalid_value(field + ".operator", json::value(wanted),
                                             "not a valid selector operator"));
    }
    check_qualified_name(string_at(requirement, "key"), field + ".key", field_errors);
    if (terms == Terms::kPreferred) return;
    for (std::size_t i = 0; i < values.size(); ++i)
        check_label_value(values[i], fmt::format("{}.values[{}]", field, i), field_errors);
}

/// Of the node's fields there is its name alone.
void check_node_field(const json::object& requirement, const std::string& field,
                      FieldErrors& field_errors) {
    const std::string_view wanted = string_at(requirement, "operator");
    const std::vector<std::string> values = strings_at(requirement, "values");
    if (wanted != "In" && wanted != "NotIn")
        field_errors.push_back(invalid_value(field + ".operator", json::value(wanted),
                                             "not a valid selector operator"));
    else if (values.size() != 1)
        field_errors.push_back(required(field + ".values",
                                        "must be only one value when `operator` is 'In' or "
                                        "'NotIn' for node field selector"));
    if (const std::string_view key = string_at(requirement, "key"); key != "metadata.name")
        field_errors.push_back(
            invalid_value(field + ".key", json::value(key), "not a valid field selector key"));
    else
        for (std::size_t i = 0; i < values.size(); ++i)
            check_dns_subdomain(values[i], fmt::format("{}.values[{}]", field, i), field_errors);
}

void check_node_term(const json::object& term, Terms terms, const std::string& field,
                     FieldErrors& field_errors) {
    const auto expressions = objects_at(term, "matchExpressions");
    for (std::size_t i = 0; i < expressions.size(); ++i)
        check_node_requirement(*expressions[i], terms,
                               fmt::format("{}.matchExpressions[{}]", field, i), field_errors);
    const auto fields = objects_at(term, "matchFields");
    for (std::size_t i = 0; i < fields.size(); ++i)
        check_node_field(*fields[i], fmt::format("{}.matchFields[{}]", field, i), field_errors);
}

void check_weight(const json::object& preferred, const std::string& field,
                  FieldErrors& field_errors) {
    const std::int64_t weight = int_at(preferred, "weight").value_or(0);
    if (weight < 1 || weight > 100)
        field_errors.push_back(
            invalid_value(field + ".weight", json::value(weight), "must be in the range 1-100"));
}

void check_node_affinity(const json::object& affinity, const std::string& field,
                         FieldErrors& field_errors) {
    if (const json::object* needed = object_at(affinity, kRequiredTerms)) {
        const std::string in = fmt::format("{}.{}.nodeSelectorTerms", field, kRequiredTerms);
        const auto terms = objects_at(*needed, "nodeSelectorTerms");
        if (terms.empty())
            field_errors.push_back(required(in, "must have at least one node selector term"));
        for (std::size_t i = 0; i < terms.size(); ++i)
            check_node_term(*terms[i], Terms::kRequired, fmt::format("{}[{}]", in, i),
                            field_errors);
    }
    const auto wishes = objects_at(affinity, kPreferredTerms);
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const std::string in = fmt::format("{}.{}[{}]", field, kPreferredTerms, i);
        check_weight(*wishes[i], in, field_errors);
        check_node_term(child(*wishes[i], "preference"), Terms::kPreferred, in + ".preference",
                        field_errors);
    }
}

void check_term_keys(const json::object& term, const std::string& field,
                     FieldErrors& field_errors) {
    const std::vector<std::string> keys = strings_at(term, "matchLabelKeys");
    const std::vector<std::string> others = strings_at(term, "mismatchLabelKeys");
    const std::set<std::string_view> both(others.begin(), others.end());
    const auto check = [&](const std::vector<std::string>& listed, const char* name) {
        if (!listed.empty() && object_at(term, "labelSelector") == nullptr) {
            field_errors.push_back(
                forbidden_field(fmt::format("{}.{}", field, name),
                                "must not be specified when labelSelector is not set"));
            return;
        }
        for (std::size_t i = 0; i < listed.size(); ++i)
            check_qualified_name(listed[i], fmt::format("{}.{}[{}]", field, name, i), field_errors);
    };
    check(keys, "matchLabelKeys");
    check(others, "mismatchLabelKeys");
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (both.contains(keys[i]))
            field_errors.push_back(
                invalid_value(fmt::format("{}.matchLabelKeys[{}]", field, i), json::value(keys[i]),
                              "exists in both matchLabelKeys and mismatchLabelKeys"));
}

void check_pod_term(const json::object& term, const std::string& field, FieldErrors& field_errors) {
    if (const json::object* selector = object_at(term, "labelSelector"))
        check_label_selector(*selector, field + ".labelSelector", field_errors);
    if (const json::object* selector = object_at(term, "namespaceSelector"))
        check_label_selector(*selector, field + ".namespaceSelector", field_errors);
    for (const std::string& name : strings_at(term, "namespaces"))
        check_dns_label(name, field + ".namespace", field_errors);
    check_term_keys(term, field, field_errors);
    const std::string_view key = string_at(term, "topologyKey");
    if (key.empty()) field_errors.push_back(required(field + ".topologyKey", "can not be empty"));
    check_qualified_name(key, field + ".topologyKey", field_errors);
}

void check_pod_affinity(const json::object& affinity, const std::string& field,
                        FieldErrors& field_errors) {
    const auto terms = objects_at(affinity, kRequiredTerms);
    for (std::size_t i = 0; i < terms.size(); ++i)
        check_pod_term(*terms[i], fmt::format("{}.{}[{}]", field, kRequiredTerms, i), field_errors);
    const auto wishes = objects_at(affinity, kPreferredTerms);
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const std::string in = fmt::format("{}.{}[{}]", field, kPreferredTerms, i);
        check_weight(*wishes[i], in, field_errors);
        check_pod_term(child(*wishes[i], "podAffinityTerm"), in + ".podAffinityTerm", field_errors);
    }
}

/// Keys whose values the pod's own labels give must not be in the selector as well.
void check_spread_keys(const json::object& spread, const std::string& field,
                       FieldErrors& field_errors) {
    const std::vector<std::string> keys = strings_at(spread, "matchLabelKeys");
    if (keys.empty()) return;
    if (object_at(spread, "labelSelector") == nullptr)
        field_errors.push_back(forbidden_field(
            field + ".matchLabelKeys", "must not be specified when labelSelector is not set"));
    const json::object& selector = child(spread, "labelSelector");
    std::set<std::string_view> selected;
    for (const auto& entry : child(selector, "matchLabels")) selected.insert(entry.key());
    for (const json::object* requirement : objects_at(selector, "matchExpressions"))
        selected.insert(string_at(*requirement, "key"));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string at = fmt::format("{}.matchLabelKeys[{}]", field, i);
        check_qualified_name(keys[i], at, field_errors);
        if (selected.contains(keys[i]))
            field_errors.push_back(invalid_value(
                at, json::value(keys[i]), "exists in both matchLabelKeys and labelSelector"));
    }
}

void check_spread(const json::object& spread, const std::string& field, FieldErrors& field_errors) {
    const auto check_positive = [&](const char* key, std::optional<std::int64_t> number) {
        if (number && *number <= 0)
            field_errors.push_back(invalid_value(fmt::format("{}.{}", field, key),
                                                 json::value(*number),
                                                 "must be greater than zero"));
    };
    check_positive("maxSkew", int_at(spread, "maxSkew").value_or(0));
    if (string_at(spread, "topologyKey").empty())
        field_errors.push_back(required(field + ".topologyKey", "can not be empty"));
    const std::string_view when = string_at(spread, "whenUnsatisfiable");
    if (when != "DoNotSchedule" && when != "ScheduleAnyway")
        field_errors.push_back(
            not_supported(field + ".whenUnsatisfiable", when, {"DoNotSchedule", "ScheduleAnyway"}));
    const auto domains = int_at(spread, "minDomains");
    check_positive("minDomains", domains);
    if (domains && when != "DoNotSchedule")
        field_errors.push_back(invalid_value(
            field + ".minDomains", json::value(*domains),
            fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                        when)));
    for (const char* key : {"nodeAffinityPolicy", "nodeTaintsPolicy"})
        check_choice(spread, key, {"Honor", "Ignore"}, field, field_errors);
    if (const json::object* selector = object_at(spread, "labelSelector"))
        check_label_selector(*selector, field + ".labelSelector", field_errors);
    check_spread_keys(spread, field, field_errors);
}

void check_spreads(const json::object& spec, const std::string& field, FieldErrors& field_errors) {
    const auto spreads = objects_at(spec, "topologySpreadConstraints");
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        check_spread(*spreads[i], fmt::format("{}[{}]", field, i), field_errors);
        const std::string_view key = string_at(*spreads[i], "topologyKey");
        const std::string_view when = string_at(*spreads[i], "whenUnsatisfiable");
        // Upstream blames the earlier one of a pair.
        if (!seen.emplace(key, when).second)
            field_errors.push_back(
                duplicate(fmt::format("{}[{}].{{topologyKey, whenUnsatisfiable}}", field, i - 1),
                          json::value(fmt::format("{{{}, {}}}", key, when))));
    }
}

void check_gates(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    const auto conditions = objects_at(spec, "readinessGates");
    for (std::size_t i = 0; i < conditions.size(); ++i)
        check_qualified_name(string_at(*conditions[i], "conditionType"),
                             fmt::format("{}.readinessGates[{}].conditionType", in, i),
                             field_errors);
    const auto gates = objects_at(spec, "schedulingGates");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < gates.size(); ++i) {
        const std::string field = fmt::format("{}.schedulingGates[{}]", in, i);
        const std::string_view name = string_at(*gates[i], "name");
        check_qualified_name(name, field, field_errors);
        if (!seen.insert(name).second) field_errors.push_back(duplicate(field, json::value(name)));
    }
}

}  // namespace

void check_tolerations(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    const auto tolerations = objects_at(spec, "tolerations");
    for (std::size_t i = 0; i < tolerations.size(); ++i)
        check_toleration(*tolerations[i], fmt::format("{}.tolerations[{}]", in, i), field_errors);
}

void check_placement(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    check_tolerations(spec, in, field_errors);
    if (const json::object* affinity = object_at(spec, "affinity")) {
        const std::string field = in + ".affinity";
        if (const json::object* nodes = object_at(*affinity, "nodeAffinity"))
            check_node_affinity(*nodes, field + ".nodeAffinity", field_errors);
        for (const char* key : {"podAffinity", "podAntiAffinity"})
            if (const json::object* pods = object_at(*affinity, key))
                check_pod_affinity(*pods, fmt::format("{}.{}", field, key), field_errors);
    }
    check_spreads(spec, in + ".topologySpreadConstraints", field_errors);
    check_gates(spec, in, field_errors);
}

}  // namespace muster::apiserver
