#include "apiserver/internal/quota/quota_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

void subtract_from(ResourceList& list, const ResourceList& less) {
    for (const auto& [name, amount] : less)
        if (const auto entry = list.find(name); entry != list.end())
            entry->second = entry->second - amount;
}

/// The limits that every container has to say something about, and where it does.
struct NeededAmount {
    const char* limit;
    const char* which;
    const char* resource;
};
constexpr NeededAmount kNeededAmounts[] = {{"cpu", "requests", "cpu"},
                                           {"limits.cpu", "limits", "cpu"},
                                           {"limits.memory", "limits", "memory"},
                                           {"memory", "requests", "memory"},
                                           {"requests.cpu", "requests", "cpu"},
                                           {"requests.memory", "requests", "memory"}};

}  // namespace

QuotaAccount::QuotaAccount(const json::object& quota) {
    const json::object& spec = child(quota, "spec");
    hard_ = resource_list(child(spec, "hard"));
    for (std::string& name : strings_at(spec, "scopes"))
        scopes_.push_back({std::move(name), "Exists", {}});
    for (const json::object* one : objects_at(child(spec, "scopeSelector"), "matchExpressions"))
        scopes_.push_back({std::string(string_at(*one, "scopeName")),
                           std::string(string_at(*one, "operator")), strings_at(*one, "values")});
    for (Scope& scope : scopes_) std::ranges::sort(scope.values);
    for (const auto& [name, most] : hard_)
        if (const std::string_view resource = counted_resource(name); !resource.empty())
            resources_.emplace(resource);
}

bool QuotaAccount::counts_the_same(const QuotaAccount& next) const {
    return scopes_ == next.scopes_ &&
           std::ranges::equal(hard_, next.hard_, {}, &ResourceList::value_type::first,
                              &ResourceList::value_type::first);
}

bool QuotaAccount::is_in(const Scope& scope, const Usage& usage) {
    if (scope.name == "Terminating") return usage.terminating;
    if (scope.name == "NotTerminating") return !usage.terminating;
    if (scope.name == "BestEffort") return usage.best_effort;
    if (scope.name == "NotBestEffort") return !usage.best_effort;
    if (scope.name == "CrossNamespacePodAffinity") return usage.cross_namespace_affinity;
    if (scope.name != "PriorityClass") return false;
    const bool has_class = !usage.priority_class.empty();
    if (scope.op == "Exists") return has_class;
    if (scope.op == "DoesNotExist") return !has_class;
    const bool named = has_class && std::ranges::binary_search(scope.values, usage.priority_class);
    return scope.op == "NotIn" ? !named : named;
}

bool QuotaAccount::is_in_scope(const Usage& usage) const {
    if (scopes_.empty()) return true;
    return usage.is_pod &&
           std::ranges::all_of(scopes_, [&](const Scope& scope) { return is_in(scope, usage); });
}

ResourceList QuotaAccount::share_of(const Usage& usage) const {
    ResourceList share;
    if (!is_in_scope(usage)) return share;
    for (const auto& [name, amount] : usage.amounts)
        if (hard_.contains(name) && !amount.is_zero()) share.emplace(name, amount);
    return share;
}

bool QuotaAccount::put(const store::StoreKey& key, const Usage* usage) {
    ResourceList share = usage == nullptr ? ResourceList() : share_of(*usage);
    const auto before = shares_.find(key);
    if (before == shares_.end() ? share.empty() : before->second == share) return false;
    if (before != shares_.end()) subtract_from(used_, before->second);
    add_to(used_, share);
    if (!share.empty())
        shares_.insert_or_assign(key, std::move(share));
    else
        shares_.erase(before);
    return true;
}

void QuotaAccount::release(const ResourceList& share) { subtract_from(reserved_, share); }

ResourceList QuotaAccount::used() const {
    ResourceList all;
    for (const auto& [name, most] : hard_) {
        if (counted_resource(name).empty()) continue;
        const auto amount = used_.find(name);
        all.emplace(name, amount == used_.end() ? kube::Quantity() : amount->second);
    }
    return all;
}

kube::Quantity QuotaAccount::taken(const std::string& name) const {
    const auto used = used_.find(name);
    const auto reserved = reserved_.find(name);
    const kube::Quantity so_far = used == used_.end() ? kube::Quantity() : used->second;
    return reserved == reserved_.end() ? so_far : so_far + reserved->second;
}

std::string QuotaAccount::excess(std::string_view name, const ResourceList& more) const {
    ResourceList requested;
    ResourceList used;
    ResourceList limited;
    for (const auto& [resource, amount] : more) {
        const auto most = hard_.find(resource);
        if (most == hard_.end()) continue;
        const kube::Quantity so_far = taken(resource);
        if (so_far + amount <= most->second) continue;
        requested.emplace(resource, amount);
        used.emplace(resource, so_far);
        limited.emplace(resource, most->second);
    }
    if (requested.empty()) return {};
    return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", name,
                       describe(requested), describe(used), describe(limited));
}

std::string QuotaAccount::missing_amounts(std::string_view name, const json::object& pod) const {
    std::string text;
    for (const NeededAmount& needed : kNeededAmounts) {
        if (!hard_.contains(needed.limit)) continue;
        std::set<std::string_view> without;
        for (const char* key : {"containers", "initContainers"})
            for (const json::object* container : objects_at(child(pod, "spec"), key))
                if (!child(child(*container, "resources"), needed.which).contains(needed.resource))
                    without.insert(string_at(*container, "name"));
        if (without.empty()) continue;
        text += fmt::format("{}{} for: {}", text.empty() ? "must specify " : "; ", needed.limit,
                            fmt::join(without, ","));
    }
    return text.empty() ? text : fmt::format("failed quota: {}: {}", name, text);
}

}  // namespace muster::apiserver
