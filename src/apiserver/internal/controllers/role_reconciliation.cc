#include "apiserver/internal/controllers/role_reconciliation.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <limits>
#include <set>
#include <utility>

#include "apiserver/authorization/rule_coverage.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

/// Adds the missing entries of expected's map; existing ones stay.
void complete_map(const json::object& expected, std::string_view key, json::object& metadata) {
    const json::object* wanted = object_at(metadata_of(expected), key);
    if (wanted == nullptr) return;
    json::object& have = ensure_object(metadata, key);
    for (const auto& entry : *wanted) have.emplace(entry.key(), entry.value());
}

/// Adds the missing items of expected's list.
void complete_list(const json::object& expected, std::string_view key, json::object& next) {
    const json::array* wanted = array_at(expected, key);
    if (wanted == nullptr || wanted->empty()) return;
    json::value& slot = next[key];
    if (!slot.is_array()) slot.emplace_array();
    json::array& have = slot.get_array();
    for (const json::value& entry : *wanted)
        if (std::ranges::none_of(have,
                                 [&](const json::value& one) { return kube::equal(one, entry); }))
            have.push_back(entry);
}

void complete_rules(const json::object& expected, json::object& next) {
    const PolicyRules missing = compacted(missing_rules(read_rules(next), read_rules(expected),
                                                        std::numeric_limits<std::size_t>::max()));
    if (missing.empty()) return;
    json::value& slot = next["rules"];
    if (!slot.is_array()) slot.emplace_array();
    for (const PolicyRule& rule : missing) slot.get_array().push_back(write_rule(rule));
}

const json::value& field(const json::object& object, std::string_view key) {
    static const json::value kAbsent;
    const json::value* found = object.if_contains(key);
    return found == nullptr ? kAbsent : *found;
}

/// An unreadable selector selects nothing: its author meant to grant less than everything.
std::vector<kube::LabelSelector> read_selectors(const json::array& selectors) {
    std::vector<kube::LabelSelector> all;
    for (const json::value& selector : selectors) {
        if (!selector.is_object()) continue;
        if (auto read = label_selector_of(&selector.get_object())) all.push_back(*std::move(read));
    }
    return all;
}

}  // namespace

Reconciled reconcile(const json::object& existing, const json::object& expected) {
    if (const json::object* annotations = object_at(metadata_of(existing), "annotations"))
        if (string_at(*annotations, kAutoUpdate) == "false") return {};
    if (!kube::equal(field(existing, "roleRef"), field(expected, "roleRef"))) {
        json::object anew = kube::copy_of(expected);
        complete_map(existing, "labels", ensure_object(anew, "metadata"));
        complete_map(existing, "annotations", ensure_object(anew, "metadata"));
        complete_list(existing, "subjects", anew);
        return {Reconciled::Kind::kReplace, std::move(anew)};
    }
    json::object next = kube::copy_of(existing);
    json::object& metadata = ensure_object(next, "metadata");
    complete_map(expected, "labels", metadata);
    complete_map(expected, "annotations", metadata);
    complete_list(expected, "subjects", next);
    if (const json::object* aggregation = object_at(expected, "aggregationRule"))
        complete_list(*aggregation, "clusterRoleSelectors", ensure_object(next, "aggregationRule"));
    else
        complete_rules(expected, next);
    if (kube::equal(next, existing)) return {};
    return {Reconciled::Kind::kUpdate, std::move(next)};
}

std::optional<json::array> aggregated_rules(const json::object& role,
                                            const std::vector<kube::ObjectPtr>& roles) {
    const json::object* aggregation = object_at(role, "aggregationRule");
    if (aggregation == nullptr) return std::nullopt;
    json::array rules;
    std::set<std::string> seen;
    const json::array* written = array_at(*aggregation, "clusterRoleSelectors");
    if (written == nullptr) return rules;
    const std::vector<kube::LabelSelector> selectors = read_selectors(*written);
    for (const kube::ObjectPtr& other : roles) {
        const json::object& candidate = other->get_object();
        // A role can't be a part of itself.
        if (name_of(candidate) == name_of(role)) continue;
        const json::object* labels = object_at(metadata_of(candidate), "labels");
        const bool chosen = std::ranges::any_of(
            selectors,
            [&](const kube::LabelSelector& selector) { return matches_labels(selector, labels); });
        const json::array* parts = array_at(candidate, "rules");
        if (!chosen || parts == nullptr) continue;
        for (const json::value& rule : *parts)
            if (rule.is_object() &&
                seen.insert(json::serialize(write_rule(read_rule(rule.get_object())))).second)
                rules.push_back(rule);
    }
    return rules;
}

}  // namespace muster::apiserver
