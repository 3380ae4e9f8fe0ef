#include "apiserver/internal/strategies/webhook_strategy.h"

#include <algorithm>
#include <set>

#include "apiserver/internal/expressions/match_conditions.h"
#include "apiserver/internal/webhooks/webhook_client_config.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kUsualSeconds = 10;
constexpr std::int64_t kMaxSeconds = 30;
constexpr std::int64_t kHttps = 443;

template <class Use>
void for_each_webhook(json::object& object, Use use) {
    if (json::array* webhooks = array_at(object, "webhooks"))
        for (json::value& webhook : *webhooks)
            if (json::object* fields = webhook.if_object()) use(*fields);
}

void apply_webhook_defaults(json::object& object) {
    const bool mutating = string_at(object, "kind") == "MutatingWebhookConfiguration";
    for_each_webhook(object, [mutating](json::object& webhook) {
        set_default(webhook, "failurePolicy", "Fail");
        set_default(webhook, "matchPolicy", "Equivalent");
        set_default(webhook, "namespaceSelector", json::object());
        set_default(webhook, "objectSelector", json::object());
        set_default(webhook, "timeoutSeconds", kUsualSeconds);
        if (mutating) set_default(webhook, "reinvocationPolicy", "Never");
        if (json::array* rules = array_at(webhook, "rules"))
            for (json::value& rule : *rules)
                if (json::object* fields = rule.if_object()) set_default(*fields, "scope", "*");
        json::object* config = object_at(webhook, "clientConfig");
        json::object* service = config == nullptr ? nullptr : object_at(*config, "service");
        if (service != nullptr) set_default(*service, "port", kHttps);
    });
}

void check_one_of(const json::object& parent, std::string_view key, const std::string& field,
                  const std::vector<std::string_view>& known, FieldErrors& field_errors) {
    if (!parent.contains(key)) return;
    const std::string_view value = string_at(parent, key);
    if (std::ranges::find(known, value) == known.end())
        field_errors.push_back(not_supported(fmt::format("{}.{}", field, key), value, known));
}

void check_list(const json::object& rule, std::string_view key, const std::string& at,
                FieldErrors& field_errors) {
    const std::vector<std::string> values = strings_at(rule, key);
    const std::string field = fmt::format("{}.{}", at, key);
    if (values.empty()) field_errors.push_back(required(field));
    const bool any = std::ranges::find(values, "*") != values.end();
    if (any && values.size() > 1)
        field_errors.push_back(
            invalid_value(field, rule.at(key), "if '*' is present, must not specify others"));
}

void check_rule(const json::object& rule, const std::string& at, FieldErrors& field_errors) {
    for (const char* key : {"operations", "apiGroups", "apiVersions"})
        check_list(rule, key, at, field_errors);
    if (strings_at(rule, "resources").empty()) field_errors.push_back(required(at + ".resources"));
    const std::vector<std::string> operations = strings_at(rule, "operations");
    for (std::size_t i = 0; i < operations.size(); ++i) {
        static const std::vector<std::string_view> kKnown = {"*", "CONNECT", "CREATE", "DELETE",
                                                             "UPDATE"};
        if (std::ranges::find(kKnown, operations[i]) == kKnown.end())
            field_errors.push_back(
                not_supported(fmt::format("{}.operations[{}]", at, i), operations[i], kKnown));
    }
    check_one_of(rule, "scope", at, {"*", "Cluster", "Namespaced"}, field_errors);
}

void check_webhook(const json::object& webhook, const std::string& at, std::set<std::string>& names,
                   FieldErrors& field_errors) {
    const std::string name(string_at(webhook, "name"));
    if (std::ranges::count(name, '.') < 2 || !kube::is_dns1123_subdomain(name))
        field_errors.push_back(
            invalid_value(at + ".name", json::value(name),
                          "should be a domain with at least three segments separated "
                          "by dots"));
    if (!names.insert(name).second)
        field_errors.push_back(duplicate(at + ".name", json::value(name)));
    // The schema requires it.
    if (const json::object* config = object_at(webhook, "clientConfig"))
        check_client_config(*config, at + ".clientConfig", field_errors);
    if (const json::array* rules = array_at(webhook, "rules"))
        for (std::size_t i = 0; i < rules->size(); ++i)
            if (const json::object* rule = (*rules)[i].if_object())
                check_rule(*rule, fmt::format("{}.rules[{}]", at, i), field_errors);
    for (const char* key : {"namespaceSelector", "objectSelector"})
        if (const auto selector = label_selector_of(object_at(webhook, key)); !selector)
            field_errors.push_back(invalid_value(fmt::format("{}.{}", at, key), webhook.at(key),
                                                 selector.error().message()));
    check_one_of(webhook, "failurePolicy", at, {"Fail", "Ignore"}, field_errors);
    check_one_of(webhook, "matchPolicy", at, {"Equivalent", "Exact"}, field_errors);
    check_one_of(webhook, "reinvocationPolicy", at, {"IfNeeded", "Never"}, field_errors);
    check_one_of(webhook, "sideEffects", at, {"None", "NoneOnDryRun"}, field_errors);
    const std::int64_t seconds = int_at(webhook, "timeoutSeconds").value_or(kUsualSeconds);
    if (seconds < 1 || seconds > kMaxSeconds)
        field_errors.push_back(invalid_value(at + ".timeoutSeconds", json::value(seconds),
                                             "the timeout value must be between 1 and 30 seconds"));
    const std::vector<std::string> versions = strings_at(webhook, "admissionReviewVersions");
    if (std::ranges::find(versions, "v1") == versions.end() &&
        std::ranges::find(versions, "v1beta1") == versions.end())
        field_errors.push_back(invalid_value(at + ".admissionReviewVersions",
                                             json::value_from(versions),
                                             "must include at least one of v1, v1beta1"));
    check_match_conditions(webhook, at, /*params=*/false, field_errors);
}

void validate_webhooks(const json::object& object, FieldErrors& field_errors) {
    std::set<std::string> names;
    const json::array* webhooks = array_at(object, "webhooks");
    for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i)
        if (const json::object* webhook = (*webhooks)[i].if_object())
            check_webhook(*webhook, fmt::format("webhooks[{}]", i), names, field_errors);
}

}  // namespace

Strategy webhook_strategy() {
    return {.apply_defaults = apply_webhook_defaults, .validate = validate_webhooks};
}

}  // namespace muster::apiserver
