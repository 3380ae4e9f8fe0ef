#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "apiserver/authorization/action.h"

namespace muster::apiserver {

/// Whether a rule of a role (rbac.authorization.k8s.io/v1 PolicyRule) allows the action. Reads the
/// stored JSON, so that nothing has to be kept in step with it.
bool rule_allows(const json::object& rule, const Action& action);

/// A rule, read.
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
/// The rules of a role; none where the field is missing.
PolicyRules read_rules(const json::object& role);
json::object write_rule(const PolicyRule& rule);

/// What of `wanted` the rules `held` do not allow, one verb on one thing each. Empty: nothing.
/// It is enough that several rules together allow it, but one verb on one thing must be allowed by
/// one rule.
PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted);

/// Rules of one verb each that are about the same become one.
PolicyRules compacted(const PolicyRules& rules);

/// `["get" "list"]`, as Go prints a list.
std::string quoted_list(const std::vector<std::string>& texts);
/// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`, as refusals name a rule.
std::string describe(const PolicyRule& rule);

}  // namespace muster::apiserver
