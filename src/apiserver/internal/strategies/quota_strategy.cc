#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "apiserver/internal/pod_validation/resource_names.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostLimits = 1000;
constexpr std::size_t kMostExpressions = 100;
constexpr const char* kScopesField = "spec.scopes";
constexpr const char* kSelectorField = "spec.scopeSelector.matchExpressions";

/// A scope, and of the names without a domain those that it can go with: what pods take, their
/// number alone, or claims.
enum class ScopeOf { kPods, kNumberOfPods, kClaims };
struct KnownScope {
    std::string_view name;
    ScopeOf of;
};
constexpr std::array<KnownScope, 7> kKnownScopes = {{
    {"Terminating", ScopeOf::kPods},
    {"NotTerminating", ScopeOf::kPods},
    {"BestEffort", ScopeOf::kNumberOfPods},
    {"NotBestEffort", ScopeOf::kPods},
    {"PriorityClass", ScopeOf::kPods},
    {"CrossNamespacePodAffinity", ScopeOf::kPods},
    {"VolumeAttributesClass", ScopeOf::kClaims},
}};
constexpr std::array<std::string_view, 6> kPodAmounts = {
    "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

const KnownScope* known_scope(std::string_view name) {
    const auto found = std::ranges::find(kKnownScopes, name, &KnownScope::name);
    return found == kKnownScopes.end() ? nullptr : &*found;
}

bool goes_with(const KnownScope& scope, std::string_view resource) {
    if (!is_quota_resource(resource)) return true;
    if (scope.of == ScopeOf::kClaims)
        return resource == "persistentvolumeclaims" || resource == "requests.storage";
    if (resource == "pods") return true;
    return scope.of == ScopeOf::kPods &&
           std::ranges::find(kPodAmounts, resource) != kPodAmounts.end();
}

void check_amount(std::string_view name, const json::value& value, const std::string& field,
                  FieldErrors& field_errors) {
    const auto amount = kube::Quantity::parse(value);
    if (!amount) {
        field_errors.push_back(invalid_value(field, value, amount.error().message()));
        return;
    }
    if (amount->is_negative())
        field_errors.push_back(invalid_value(field, json::value(amount->to_string()),
                                             "must be greater than or equal to 0"));
    if (is_integer_resource(name) && amount->ceil_milli() % 1000 != 0)
        field_errors.push_back(
            invalid_value(field, json::value(amount->to_string()), "must be an integer"));
}

/// The scopes that a quota has, with the field in which they are.
class ScopeChecks {
  public:
    ScopeChecks(const json::object& hard, std::string field, json::value shown,
                FieldErrors& field_errors)
        : hard_(hard),
          field_(std::move(field)),
          shown_(std::move(shown)),
          field_errors_(field_errors) {}

    void add(std::string_view name, const std::string& field) {
        if (!seen_.insert(name).second) return;
        const KnownScope* known = known_scope(name);
        if (known == nullptr) {
            field_errors_.push_back(invalid_value(
                field, field == field_ ? shown_ : json::value(name), "unsupported scope"));
            return;
        }
        for (const auto& entry : hard_) {
            if (goes_with(*known, entry.key())) continue;
            field_errors_.push_back(
                invalid_value(field_, shown_, "unsupported scope applied to resource"));
            break;  // one is as good as all: they say the same
        }
    }
    void finish() {
        for (const auto& [one, other] :
             {std::pair{"BestEffort", "NotBestEffort"}, std::pair{"Terminating", "NotTerminating"}})
            if (seen_.contains(one) && seen_.contains(other))
                field_errors_.push_back(invalid_value(field_, shown_, "conflicting scopes"));
    }

  private:
    const json::object& hard_;
    std::string field_;
    json::value shown_;
    FieldErrors& field_errors_;
    std::set<std::string_view> seen_;
};

void check_scope_requirement(const json::object& requirement, FieldErrors& field_errors) {
    const std::string field = kSelectorField;
    const std::string_view scope = string_at(requirement, "scopeName");
    const std::string_view op = string_at(requirement, "operator");
    const json::array* values = array_at(requirement, "values");
    const bool has_values = values != nullptr && !values->empty();
    if (known_scope(scope) != nullptr && scope != "PriorityClass" &&
        scope != "VolumeAttributesClass" && op != "Exists")
        field_errors.push_back(invalid_value(
            field + ".operator", json::value(op),
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"));
    if (op == "In" || op == "NotIn") {
        if (!has_values)
            field_errors.push_back(
                required(field + ".values",
                         "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                         "selector"));
    } else if (op == "Exists" || op == "DoesNotExist") {
        if (has_values)
            field_errors.push_back(invalid_value(
                field + ".values", *values,
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                "selector"));
    } else {
        field_errors.push_back(
            invalid_value(field + ".operator", json::value(op), "not a valid selector operator"));
    }
}

/// Every pod of the namespace is compared with all of it.
bool is_of_bounded_size(const json::object& spec, FieldErrors& field_errors) {
    const auto check = [&](std::size_t count, std::size_t most, const char* field) {
        if (count <= most) return true;
        field_errors.push_back(too_many(field, count, most));
        return false;
    };
    const auto expressions = objects_at(child(spec, "scopeSelector"), "matchExpressions");
    std::size_t values = 0;
    for (const json::object* expression : expressions)
        if (const json::array* listed = array_at(*expression, "values")) values += listed->size();
    const json::array* scopes = array_at(spec, "scopes");
    return check(child(spec, "hard").size(), kMostLimits, "spec.hard") &&
           check(scopes == nullptr ? 0 : scopes->size(), kMostExpressions, kScopesField) &&
           check(expressions.size(), kMostExpressions, kSelectorField) &&
           check(values, kMostLimits, kSelectorField);
}

void validate_quota(const json::object& quota, FieldErrors& field_errors) {
    const json::object& spec = child(quota, "spec");
    const json::object& hard = child(spec, "hard");
    if (!is_of_bounded_size(spec, field_errors)) return;
    for (const auto& entry : hard) {
        const std::string field = fmt::format("spec.hard[{}]", std::string_view(entry.key()));
        check_quota_resource_name(entry.key(), field, field_errors);
        check_amount(entry.key(), entry.value(), field, field_errors);
    }
    if (const json::array* scopes = array_at(spec, "scopes")) {
        ScopeChecks checks(hard, kScopesField, *scopes, field_errors);
        for (const json::value& scope : *scopes)
            if (const json::string* name = scope.if_string()) checks.add(*name, kScopesField);
        checks.finish();
    }
    if (const json::object* selector = object_at(spec, "scopeSelector")) {
        ScopeChecks checks(hard, kSelectorField, *selector, field_errors);
        for (const json::object* requirement : objects_at(*selector, "matchExpressions")) {
            checks.add(string_at(*requirement, "scopeName"),
                       std::string(kSelectorField) + ".scopeName");
            check_scope_requirement(*requirement, field_errors);
        }
        checks.finish();
    }
}

void validate_quota_update(const json::object& next, const json::object& current,
                           FieldErrors& field_errors) {
    const auto scopes = [](const json::object& quota) {
        std::vector<std::string> names = strings_at(child(quota, "spec"), "scopes");
        return std::set<std::string>(names.begin(), names.end());
    };
    if (scopes(next) == scopes(current)) return;
    const json::array* sent = array_at(child(next, "spec"), "scopes");
    field_errors.push_back(
        invalid_value(kScopesField, sent == nullptr ? json::value(nullptr) : json::value(*sent),
                      "field is immutable"));
}

}  // namespace

Strategy resource_quota_strategy() {
    return {
        .prepare_create = [](json::object& quota, WallTime) { quota["status"].emplace_object(); },
        .validate = validate_quota,
        .validate_update = validate_quota_update};
}

}  // namespace muster::apiserver
