#include "apiserver/authorization/policy_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

using Strings = std::vector<std::string>;

template <class Predicate>
bool any_string(const json::object& rule, std::string_view key, Predicate predicate) {
    const json::array* entries = array_at(rule, key);
    return entries != nullptr && std::ranges::any_of(*entries, [&](const json::value& entry) {
               const json::string* text = entry.if_string();
               return text != nullptr && predicate(std::string_view(*text));
           });
}

/// `granted` is a resource with its subresource, `*`, or a subresource of anything: `*/scale`.
bool resource_covers(std::string_view granted, std::string_view resource,
                     std::string_view subresource) {
    if (granted == "*") return true;
    if (granted.starts_with("*/")) return !subresource.empty() && granted.substr(2) == subresource;
    if (!granted.starts_with(resource)) return false;
    granted.remove_prefix(resource.size());
    if (subresource.empty()) return granted.empty();
    return granted.starts_with('/') && granted.substr(1) == subresource;
}

bool has_verb(const json::object& rule, std::string_view wanted) {
    return any_string(rule, "verbs",
                      [&](std::string_view verb) { return verb == "*" || verb == wanted; });
}

}  // namespace

bool url_covers(std::string_view granted, std::string_view url) {
    if (granted == url) return true;
    if (!granted.ends_with('*')) return false;
    while (granted.ends_with('*')) granted.remove_suffix(1);
    return url.starts_with(granted);
}

bool rule_allows_some_name(const json::object& rule, const Action& action) {
    return has_verb(rule, action.verb) &&
           any_string(
               rule, "apiGroups",
               [&](std::string_view group) { return group == "*" || group == action.group; }) &&
           any_string(rule, "resources", [&](std::string_view resource) {
               return resource_covers(resource, action.resource, action.subresource);
           });
}

bool rule_allows(const json::object& rule, const Action& action) {
    if (action.resource.empty())
        return has_verb(rule, action.verb) &&
               any_string(rule, "nonResourceURLs",
                          [&](std::string_view url) { return url_covers(url, action.path); });
    const json::array* names = array_at(rule, "resourceNames");
    return rule_allows_some_name(rule, action) &&
           (names == nullptr || names->empty() ||
            any_string(rule, "resourceNames",
                       [&](std::string_view name) { return name == action.name; }));
}

PolicyRule read_rule(const json::object& rule) {
    return {strings_at(rule, "verbs"), strings_at(rule, "apiGroups"), strings_at(rule, "resources"),
            strings_at(rule, "resourceNames"), strings_at(rule, "nonResourceURLs")};
}

PolicyRules read_rules(const json::object& role) {
    PolicyRules rules;
    if (const json::array* entries = array_at(role, "rules"))
        for (const json::value& entry : *entries)
            if (const json::object* rule = entry.if_object()) rules.push_back(read_rule(*rule));
    return rules;
}

json::object write_rule(const PolicyRule& rule) {
    json::object out;
    const auto put = [&](std::string_view key, const Strings& texts) {
        if (!texts.empty()) out[key] = json::array(texts.begin(), texts.end());
    };
    put("verbs", rule.verbs);
    put("apiGroups", rule.groups);
    put("resources", rule.resources);
    put("resourceNames", rule.names);
    put("nonResourceURLs", rule.urls);
    return out;
}

std::string quoted_list(const std::vector<std::string>& texts) {
    // A longer list would not be read, and a refusal repeats what a client sent.
    constexpr std::size_t kMost = 100;
    std::string list = "[";
    for (const std::string& text : texts | std::views::take(kMost)) {
        if (list.size() > 1) list += ' ';
        list += json::serialize(json::value(text));
    }
    if (texts.size() > kMost) list += fmt::format(" ... and {} more", texts.size() - kMost);
    return list + "]";
}

std::string describe(const PolicyRule& rule) {
    std::string text;
    const auto put = [&](std::string_view name, const Strings& texts) {
        if (texts.empty()) return;
        if (!text.empty()) text += ", ";
        text += fmt::format("{}:{}", name, quoted_list(texts));
    };
    put("APIGroups", rule.groups);
    put("Resources", rule.resources);
    put("NonResourceURLs", rule.urls);
    put("ResourceNames", rule.names);
    put("Verbs", rule.verbs);
    return "{" + text + "}";
}

}  // namespace muster::apiserver
