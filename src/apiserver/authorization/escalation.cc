#include "apiserver/authorization/escalation.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "apiserver/authentication/authentication.h"
#include "apiserver/authorization/authorization.h"
#include "apiserver/authorization/granted_rules.h"
#include "apiserver/authorization/rule_coverage.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

/// So many rules are compared at most, as it takes the loop's time. For more of them one needs the
/// verb `escalate` or `bind`.
constexpr std::size_t kMostGranted = 5000;
constexpr std::size_t kMostHeld = 10'000;

/// Which held rules may cover some of those that are granted: they have a resource in common, or
/// are about paths.
class Concerned {
  public:
    explicit Concerned(const PolicyRules& granted) {
        for (const PolicyRule& rule : granted)
            resources_.insert(rule.resources.begin(), rule.resources.end());
    }

    bool by(const json::object& held) const {
        const json::array* resources = array_at(held, "resources");
        if (resources == nullptr || array_at(held, "nonResourceURLs") != nullptr) return true;
        return std::ranges::any_of(*resources, [&](const json::value& resource) {
            const json::string* name = resource.if_string();
            return name != nullptr && (name->starts_with('*') || resources_.contains(*name));
        });
    }

  private:
    std::unordered_set<std::string_view> resources_;
};

/// Nullopt if `author` holds all of the rules in the namespace; else what is missing, in words.
std::optional<std::string> escalation(const WatchCache& cache, const User& author,
                                      std::string_view namespace_, const PolicyRules& rules) {
    if (rules.size() > kMostGranted)
        return fmt::format(
            "user \"{}\" (groups={}) is attempting to grant {} rules; at most {} are compared with "
            "those that they hold",
            author.name, quoted_list(author.groups), rules.size(), kMostGranted);
    PolicyRules held;
    const Concerned concerned(rules);
    const VisitedRoles visited =
        visit_granted_rules(cache, author, namespace_, [&](const Grant& grant) {
            if (concerned.by(grant.rule)) held.push_back(read_rule(grant.rule));
            return held.size() < kMostHeld;
        });
    const PolicyRules missing = compacted(missing_rules(held, rules));
    if (missing.empty()) return std::nullopt;
    std::set<std::string> lines;
    for (const PolicyRule& rule : missing) lines.insert(describe(rule));
    std::string text = fmt::format(
        "user \"{}\" (groups={}) is attempting to grant RBAC permissions not currently held:",
        author.name, quoted_list(author.groups));
    for (const std::string& line : lines) text += "\n" + line;
    if (!visited.errors.empty())
        text += fmt::format("; resolution errors: {}", joined_errors(visited.errors));
    return text;
}

/// The garbage collector's clients may let go of anything.
bool changes_ownership_alone(json::object before, json::object after) {
    for (json::object* object : {&before, &after}) {
        json::object& meta = ensure_object(*object, "metadata");
        for (const char* key :
             {"ownerReferences", "finalizers", "resourceVersion", "managedFields"})
            meta.erase(key);
    }
    return kube::equal(before, after);
}

bool is_aggregated(const json::object& role) {
    return object_at(role, "aggregationRule") != nullptr;
}

StatusResult<void> check_role(const WatchCache& cache, const User& author,
                              const kube::ResourceType& type, const json::object* before,
                              const json::object& role) {
    // Labels count as much as rules: by them a role's rules become part of others.
    const bool of_cluster = type.kind == kClusterRoles.kind;
    Action escalate{.verb = "escalate", .group = type.group, .resource = type.plural};
    escalate.namespace_ = namespace_of(role);
    escalate.name = name_of(role);
    if (decide(cache, author, escalate).allowed) return {};
    if (auto missing = escalation(cache, author, namespace_of(role), read_rules(role)))
        return forbidden(type, name_of(role), *missing);
    // It aggregates whatever rules there will be; and if that is taken away, nothing corrects its
    // rules any more.
    const PolicyRules everything{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    const bool gathers = is_aggregated(role) || (before != nullptr && is_aggregated(*before));
    if (of_cluster && gathers && escalation(cache, author, "", everything))
        return forbidden(type, name_of(role),
                         "must have cluster-admin privileges to use the aggregationRule");
    return {};
}

StatusResult<void> check_binding(const WatchCache& cache, const User& author,
                                 const kube::ResourceType& type, const json::object& binding) {
    const json::object& role_ref = child(binding, "roleRef");
    Action bind{.verb = "bind", .group = std::string(kRbacGroup)};
    bind.resource =
        string_at(role_ref, "kind") == kRoles.kind ? kRoles.plural : kClusterRoles.plural;
    bind.namespace_ = namespace_of(binding);
    bind.name = string_at(role_ref, "name");
    if (decide(cache, author, bind).allowed) return {};
    TRY(const kube::ObjectPtr role, find_role(cache, role_ref, namespace_of(binding)));
    if (auto missing =
            escalation(cache, author, namespace_of(binding), read_rules(role->get_object())))
        return forbidden(type, name_of(binding), *missing);
    return {};
}

}  // namespace

StatusResult<void> check_escalation(const WatchCache& cache, const User& author,
                                    const kube::ResourceType& type, const json::object* before,
                                    const json::object& after) {
    if (type.group != kRbacGroup || author.in_group(kMasters)) return {};
    if (before != nullptr && changes_ownership_alone(kube::copy_of(*before), kube::copy_of(after)))
        return {};
    if (type == kRoles || type == kClusterRoles)
        return check_role(cache, author, type, before, after);
    return check_binding(cache, author, type, after);
}

}  // namespace muster::apiserver
