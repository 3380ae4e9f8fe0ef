#include "apiserver/internal/controllers/aggregating_roles.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels labels_of(const json::object* map) {
    Labels labels;
    if (map == nullptr) return labels;
    for (const auto& [key, value] : *map)
        if (value.is_string()) labels.emplace_back(key, value.get_string());
    return labels;
}

const json::array* selectors_of(const json::object& role) {
    const json::object* rule = object_at(role, "aggregationRule");
    return rule == nullptr ? nullptr : array_at(*rule, "clusterRoleSelectors");
}

}  // namespace

void AggregatingRoles::Index::put(const std::string& name, std::vector<Label> now) {
    if (const auto known = labels.find(name); known != labels.end()) {
        for (const Label& label : known->second) {
            const auto found = names.find(label);
            if (found == names.end()) continue;
            found->second.erase(name);
            if (found->second.empty()) names.erase(found);
        }
        labels.erase(known);
    }
    for (const Label& label : now) names[label].insert(name);
    if (!now.empty()) labels.emplace(name, std::move(now));
}

void AggregatingRoles::Index::add_names(const Label& label, std::set<std::string>& to) const {
    const auto found = names.find(label);
    if (found != names.end()) to.insert(found->second.begin(), found->second.end());
}

void AggregatingRoles::put(const std::string& name, const json::object* role) {
    parts_.put(name,
               labels_of(role == nullptr ? nullptr : object_at(metadata_of(*role), "labels")));
    Labels asked;
    by_no_value_.erase(name);
    const json::array* selectors = role == nullptr ? nullptr : selectors_of(*role);
    if (selectors != nullptr) {
        for (const json::value& selector : *selectors) {
            if (!selector.is_object()) continue;
            Labels labels = labels_of(object_at(selector.get_object(), "matchLabels"));
            if (labels.empty())
                by_no_value_.insert(name);
            else
                asked.push_back(std::move(labels.front()));
        }
    }
    wholes_.put(name, std::move(asked));
}

void AggregatingRoles::add_wholes_of(const json::object& role, std::set<std::string>& names) const {
    names.insert(by_no_value_.begin(), by_no_value_.end());
    for (const Label& label : labels_of(object_at(metadata_of(role), "labels")))
        wholes_.add_names(label, names);
}

std::optional<std::set<std::string>> AggregatingRoles::parts_of(const std::string& whole) const {
    if (by_no_value_.contains(whole)) return std::nullopt;
    std::set<std::string> names;
    if (const auto asked = wholes_.labels.find(whole); asked != wholes_.labels.end())
        for (const Label& label : asked->second) parts_.add_names(label, names);
    return names;
}

}  // namespace muster::apiserver
