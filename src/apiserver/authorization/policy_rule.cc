#include "apiserver/authorization/policy_rule.h"

#include <fmt/format.h>

#include <algorithm>

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

/// `granted` is exact, or ends with '*' and stands for everything with that prefix.
bool url_covers(std::string_view granted, std::string_view url) {
    if (granted == url) return true;
    if (!granted.ends_with('*')) return false;
    while (granted.ends_with('*')) granted.remove_suffix(1);
    return url.starts_with(granted);
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

bool has(const Strings& set, std::string_view one) {
    return std::ranges::find(set, one) != set.end();
}

bool holds_all(const Strings& held, const Strings& wanted) {
    return std::ranges::all_of(wanted, [&](const std::string& one) { return has(held, one); });
}

bool covers_resources(const Strings& held, const Strings& wanted) {
    return std::ranges::all_of(wanted, [&](const std::string& one) {
        const std::size_t slash = one.find('/');
        const std::string_view resource = std::string_view(one).substr(0, slash);
        const std::string_view subresource =
            slash == one.npos ? std::string_view() : std::string_view(one).substr(slash + 1);
        return std::ranges::any_of(held, [&](const std::string& granted) {
            return granted == one || resource_covers(granted, resource, subresource);
        });
    });
}

bool covers(const PolicyRule& held, const PolicyRule& wanted) {
    const bool verbs = has(held.verbs, "*") || holds_all(held.verbs, wanted.verbs);
    const bool groups = has(held.groups, "*") || holds_all(held.groups, wanted.groups);
    // A rule for named objects never covers a rule for all.
    const bool names =
        held.names.empty() || (!wanted.names.empty() && holds_all(held.names, wanted.names));
    const bool urls = std::ranges::all_of(wanted.urls, [&](const std::string& url) {
        return std::ranges::any_of(held.urls,
                                   [&](const std::string& one) { return url_covers(one, url); });
    });
    return verbs && groups && names && urls && covers_resources(held.resources, wanted.resources);
}

/// One verb on one thing each.
PolicyRules broken_down(const PolicyRule& rule) {
    PolicyRules parts;
    for (const std::string& group : rule.groups)
        for (const std::string& resource : rule.resources)
            for (const std::string& verb : rule.verbs) {
                if (rule.names.empty()) parts.push_back({{verb}, {group}, {resource}, {}, {}});
                for (const std::string& name : rule.names)
                    parts.push_back({{verb}, {group}, {resource}, {name}, {}});
            }
    for (const std::string& url : rule.urls)
        for (const std::string& verb : rule.verbs) parts.push_back({{verb}, {}, {}, {}, {url}});
    return parts;
}

bool same_but_verbs(const PolicyRule& a, const PolicyRule& b) {
    return a.groups == b.groups && a.resources == b.resources && a.names == b.names &&
           a.urls == b.urls;
}

}  // namespace

bool rule_allows(const json::object& rule, const Action& action) {
    if (!any_string(rule, "verbs",
                    [&](std::string_view verb) { return verb == "*" || verb == action.verb; }))
        return false;
    if (action.resource.empty())
        return any_string(rule, "nonResourceURLs",
                          [&](std::string_view url) { return url_covers(url, action.path); });
    const json::array* names = array_at(rule, "resourceNames");
    return any_string(
               rule, "apiGroups",
               [&](std::string_view group) { return group == "*" || group == action.group; }) &&
           any_string(rule, "resources",
                      [&](std::string_view resource) {
                          return resource_covers(resource, action.resource, action.subresource);
                      }) &&
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

PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted) {
    PolicyRules missing;
    for (const PolicyRule& rule : wanted)
        for (PolicyRule& part : broken_down(rule))
            if (std::ranges::none_of(held,
                                     [&](const PolicyRule& one) { return covers(one, part); }))
                missing.push_back(std::move(part));
    return missing;
}

PolicyRules compacted(const PolicyRules& rules) {
    PolicyRules compact;
    for (const PolicyRule& rule : rules) {
        const auto same = std::ranges::find_if(
            compact, [&](const PolicyRule& one) { return same_but_verbs(one, rule); });
        if (same == compact.end()) {
            compact.push_back(rule);
            continue;
        }
        for (const std::string& verb : rule.verbs)
            if (!has(same->verbs, verb)) same->verbs.push_back(verb);
    }
    return compact;
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::string list = "[";
    for (const std::string& text : texts) {
        if (list.size() > 1) list += ' ';
        list += json::serialize(json::value(text));
    }
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
