#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "apiserver/internal/quota/resource_list.h"
#include "apiserver/internal/quota/usage.h"
#include "store/store.h"

namespace muster::apiserver {

/// One ResourceQuota: what it limits, and what the objects of its namespace take of that. A change
/// of an object costs what that object takes, however many there are. Pure.
class QuotaAccount {
  public:
    explicit QuotaAccount(const json::object& quota);

    /// Whether what was counted for this account holds for the quota's new state, too.
    bool counts_the_same(const QuotaAccount& next) const;
    void take_limits_of(const QuotaAccount& next) { hard_ = next.hard_; }

    const ResourceList& hard() const { return hard_; }
    /// The resources whose objects have to be counted.
    const std::set<std::string, std::less<>>& resources() const { return resources_; }
    bool counts(std::string_view resource) const { return resources_.contains(resource); }

    /// What an object takes of this quota: nothing if it is out of its scopes.
    ResourceList share_of(const Usage& usage) const;
    bool is_in_scope(const Usage& usage) const;

    /// An object as it is now; null: it is gone. Whether that changes what is used.
    bool put(const store::StoreKey& key, const Usage* usage);
    /// For a write that is not committed yet.
    void reserve(const ResourceList& share) { add_to(reserved_, share); }
    void release(const ResourceList& share);

    /// The committed usage, of each resource that is counted.
    ResourceList used() const;

    /// Why there is no room for `more`; empty if there is.
    std::string excess(std::string_view name, const ResourceList& more) const;
    /// Containers have to say how much processor time and memory they need where a quota limits it;
    /// what is wrong with those of a pod, or nothing.
    std::string missing_amounts(std::string_view name, const json::object& pod) const;

  private:
    struct Scope {
        std::string name;
        std::string op;
        std::vector<std::string> values;

        friend bool operator==(const Scope&, const Scope&) = default;
    };
    static bool is_in(const Scope& scope, const Usage& usage);
    kube::Quantity taken(const std::string& name) const;

    ResourceList hard_;
    std::vector<Scope> scopes_;
    std::set<std::string, std::less<>> resources_;
    std::map<store::StoreKey, ResourceList> shares_;
    ResourceList used_;
    ResourceList reserved_;
};

}  // namespace muster::apiserver
