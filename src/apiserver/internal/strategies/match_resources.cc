#include "apiserver/internal/strategies/match_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"

namespace muster::apiserver {
namespace {

void check_match_list(const json::object& rule, std::string_view key, std::string_view others,
                      const std::string& at, FieldErrors& field_errors) {
    const std::vector<std::string> values = strings_at(rule, key);
    const std::string field = fmt::format("{}.{}", at, key);
    if (values.empty()) field_errors.push_back(required(field));
    if (values.size() > 1 && std::ranges::find(values, "*") != values.end())
        field_errors.push_back(
            invalid_value(field, rule.at(key),
                          fmt::format("if '*' is present, must not specify other {}", others)));
}

void check_match_names(const json::object& rule, const std::string& at, FieldErrors& field_errors) {
    const std::vector<std::string> names = strings_at(rule, "resourceNames");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string field = fmt::format("{}.resourceNames[{}]", at, i);
        if (names[i] == "." || names[i] == "..")
            field_errors.push_back(invalid_value(field, json::value(names[i]),
                                                 fmt::format("may not be '{}'", names[i])));
        for (const char* part : {"/", "%"})
            if (names[i].find(part) != std::string::npos)
                field_errors.push_back(invalid_value(field, json::value(names[i]),
                                                     fmt::format("may not contain '{}'", part)));
        if (!seen.insert(names[i]).second)
            field_errors.push_back(duplicate(field, json::value(names[i])));
    }
}

void check_match_rule(const json::object& rule, const std::string& at, FieldErrors& field_errors) {
    check_match_names(rule, at, field_errors);
    check_match_list(rule, "operations", "operations", at, field_errors);
    const std::vector<std::string> operations = strings_at(rule, "operations");
    static const std::vector<std::string_view> kOperations = {"*", "CONNECT", "CREATE", "DELETE",
                                                              "UPDATE"};
    for (std::size_t i = 0; i < operations.size(); ++i)
        if (std::ranges::find(kOperations, operations[i]) == kOperations.end())
            field_errors.push_back(
                not_supported(fmt::format("{}.operations[{}]", at, i), operations[i], kOperations));
    check_match_list(rule, "apiGroups", "API groups", at, field_errors);
    check_match_list(rule, "apiVersions", "API versions", at, field_errors);
    if (strings_at(rule, "resources").empty()) field_errors.push_back(required(at + ".resources"));
    static const std::vector<std::string_view> kScopes = {"*", "Cluster", "Namespaced"};
    const std::string_view scope = string_at(rule, "scope");
    if (!scope.empty() && std::ranges::find(kScopes, scope) == kScopes.end())
        field_errors.push_back(not_supported(at + ".scope", scope, kScopes));
}

}  // namespace

void default_match_resources(json::object& match) {
    set_default(match, "matchPolicy", "Equivalent");
    set_default(match, "namespaceSelector", json::object());
    set_default(match, "objectSelector", json::object());
    for (const char* key : {"resourceRules", "excludeResourceRules"})
        for_each_object(match, key, [](json::object& rule) { set_default(rule, "scope", "*"); });
}

void check_match_resources(const json::object& match, const std::string& at,
                           FieldErrors& field_errors) {
    static const std::vector<std::string_view> kPolicies = {"Equivalent", "Exact"};
    const std::string_view policy = string_at(match, "matchPolicy");
    if (std::ranges::find(kPolicies, policy) == kPolicies.end())
        field_errors.push_back(not_supported(at + ".matchPolicy", policy, kPolicies));
    for (const char* key : {"namespaceSelector", "objectSelector"})
        if (const auto selector = label_selector_of(object_at(match, key)); !selector)
            field_errors.push_back(invalid_value(fmt::format("{}.{}", at, key), match.at(key),
                                                 selector.error().message()));
    for (const char* key : {"resourceRules", "excludeResourceRules"}) {
        const auto rules = objects_at(match, key);
        for (std::size_t i = 0; i < rules.size(); ++i)
            check_match_rule(*rules[i], fmt::format("{}.{}[{}]", at, key, i), field_errors);
    }
}

}  // namespace muster::apiserver
