#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "apiserver/authorization/action.h"

namespace muster::apiserver {

/// Whether a rule of a role (rbac.authorization.k8s.io/v1 PolicyRule) allows the action. Reads the
/// stored JSON, so that nothing has to be kept in sync with it.
bool rule_allows(const json::object& rule, const Action& action);
/// The same for an action on a resource, without looking at names: the rule may allow it for those
/// in its resourceNames alone.
bool rule_allows_some_name(const json::object& rule, const Action& action);

/// A parsed rule.
struct PolicyRule {
    std::vector<std::string> verbs;
    std::vector<std::string> groups;
    std::vector<std::string> resources;
    std::vector<std::string> names;
    std::vector<std::string> urls;

    friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};
using PolicyRules = std::vector<PolicyRule>;

PolicyRule read_rule(const json::object& rule);
/// The rules of a role; none if the field is missing.
PolicyRules read_rules(const json::object& role);
json::object write_rule(const PolicyRule& rule);

/// `granted` is exact, or ends with '*' and covers every URL with that prefix.
bool url_covers(std::string_view granted, std::string_view url);

/// `["get" "list"]`, as Go prints a list; cut if it is long.
std::string quoted_list(const std::vector<std::string>& texts);
/// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`, for error messages.
std::string describe(const PolicyRule& rule);

}  // namespace muster::apiserver
