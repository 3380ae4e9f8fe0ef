#include "apiserver/authorization/rule_coverage.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace muster::apiserver {

namespace {

using Strings = std::vector<std::string>;

/// Looks at a name, or of up to 64 rules at whether one covers a combination: some 20 ms for all.
constexpr std::size_t kMostSteps = 1'000'000;

std::size_t product(std::size_t a, std::size_t b) {
    if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b)
        return std::numeric_limits<std::size_t>::max();
    return a * b;
}

/// A set of the rules that may cover something.
class RuleSet {
  public:
    explicit RuleSet(std::size_t rules) : words_((rules + 63) / 64) {}

    void add(std::size_t rule) { words_[rule / 64] |= std::uint64_t{1} << (rule % 64); }
    bool empty() const {
        return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
    }
    RuleSet operator&(const RuleSet& other) const {
        RuleSet both = *this;
        for (std::size_t i = 0; i < words_.size(); ++i) both.words_[i] &= other.words_[i];
        return both;
    }
    static bool meet(const RuleSet& a, const RuleSet& b) {
        for (std::size_t i = 0; i < a.words_.size(); ++i)
            if ((a.words_[i] & b.words_[i]) != 0) return true;
        return false;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// For each of the entries of a rule the candidates that cover it.
using Covers = std::vector<RuleSet>;

/// Is looked up in a set if it is long.
class Entries {
  public:
    explicit Entries(const Strings& all) : all_(all) {
        if (all.size() > kFew) texts_.insert(all.begin(), all.end());
    }
    bool empty() const { return all_.empty(); }
    bool contains(std::string_view one) const {
        return all_.size() > kFew ? texts_.contains(one)
                                  : std::ranges::find(all_, one) != all_.end();
    }

  private:
    static constexpr std::size_t kFew = 8;

    const Strings& all_;
    std::unordered_set<std::string_view> texts_;
};

struct HeldRule {
    explicit HeldRule(const PolicyRule& of)
        : rule(of), verbs(of.verbs), groups(of.groups), resources(of.resources), names(of.names) {}

    static bool has_or_all(const Entries& entries, std::string_view one) {
        return entries.contains("*") || entries.contains(one);
    }
    bool has_verb(std::string_view verb) const { return has_or_all(verbs, verb); }
    bool has_group(std::string_view group) const { return has_or_all(groups, group); }
    bool has_resource(const std::string& resource) const {
        if (has_or_all(resources, resource)) return true;
        const std::size_t slash = resource.find('/');
        return slash != resource.npos && slash + 1 < resource.size() &&
               resources.contains("*" + resource.substr(slash));
    }
    bool has_name(std::string_view name) const { return names.empty() || names.contains(name); }

    const PolicyRule& rule;
    Entries verbs;
    Entries groups;
    Entries resources;
    Entries names;
};

class Comparison {
  public:
    /// Refers to `held`.
    Comparison(const PolicyRules& held, std::size_t most)
        : rules_(held), held_(held.size()), seen_(held.size(), 0), most_(most) {
        by_resource_.reserve(rules_.size());
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            for (const std::string& resource : rules_[i].resources)
                by_resource_[resource].push_back(i);
            if (!rules_[i].urls.empty() && rules_[i].names.empty()) of_paths_.push_back(i);
            paths_ += rules_[i].urls.size();
        }
    }

    void add(const PolicyRule& wanted) {
        // What has no verb, or no group, grants nothing.
        if (wanted.verbs.empty()) return;
        if (!wanted.resources.empty() && !wanted.groups.empty()) add_resources(wanted);
        if (!wanted.urls.empty()) add_paths(wanted);
    }
    PolicyRules missing() && { return std::move(missing_); }

  private:
    bool afford(std::size_t steps) {
        if (steps > left_) return false;
        left_ -= steps;
        return true;
    }
    /// Most of many rules are about other resources, and making their sets would take longest.
    const HeldRule& held(std::size_t rule) {
        if (held_[rule] == nullptr) held_[rule] = std::make_unique<const HeldRule>(rules_[rule]);
        return *held_[rule];
    }
    bool full() const { return missing_.size() >= most_; }
    void add_missing(PolicyRule rule) {
        if (!full()) missing_.push_back(std::move(rule));
    }

    /// The rules that are about one of the resources at least; nullopt when they are too many.
    std::optional<std::vector<std::size_t>> candidates(const Strings& resources) {
        std::vector<std::size_t> found;
        ++round_;
        const auto take = [&](std::string_view key) {
            const auto at = by_resource_.find(key);
            if (at == by_resource_.end()) return afford(1);
            if (!afford(at->second.size())) return false;
            for (const std::size_t rule : at->second)
                if (std::exchange(seen_[rule], round_) != round_) found.push_back(rule);
            return true;
        };
        if (!take("*")) return std::nullopt;
        for (const std::string& resource : resources) {
            if (!take(resource)) return std::nullopt;
            const std::size_t slash = resource.find('/');
            if (slash != resource.npos && !take("*" + resource.substr(slash))) return std::nullopt;
        }
        return found;
    }

    template <class Has>
    Covers covers(const Strings& entries, const std::vector<std::size_t>& rules, Has has) {
        Covers made(entries.size(), RuleSet(rules.size()));
        for (std::size_t i = 0; i < entries.size(); ++i)
            for (std::size_t k = 0; k < rules.size(); ++k)
                if (has(held(rules[k]), entries[i])) made[i].add(k);
        return made;
    }
    static RuleSet all_of(const Covers& entries, RuleSet so_far) {
        for (const RuleSet& entry : entries) so_far = so_far & entry;
        return so_far;
    }
    static RuleSet every(std::size_t rules) {
        RuleSet all(rules);
        for (std::size_t i = 0; i < rules; ++i) all.add(i);
        return all;
    }

    void add_resources(const PolicyRule& wanted) {
        const PolicyRule whole{wanted.verbs, wanted.groups, wanted.resources, wanted.names, {}};
        const std::size_t entries = wanted.verbs.size() + wanted.groups.size() +
                                    wanted.resources.size() + wanted.names.size();
        const auto rules = candidates(wanted.resources);
        if (!rules || !afford(product(rules->size(), entries))) return add_missing(whole);
        const Covers verbs = covers(wanted.verbs, *rules, std::mem_fn(&HeldRule::has_verb));
        const Covers groups = covers(wanted.groups, *rules, std::mem_fn(&HeldRule::has_group));
        const Covers resources =
            covers(wanted.resources, *rules, std::mem_fn(&HeldRule::has_resource));
        Covers names = covers(wanted.names, *rules, std::mem_fn(&HeldRule::has_name));
        if (names.empty()) {
            // A rule for named objects never covers one for all.
            names.emplace_back(rules->size());
            for (std::size_t k = 0; k < rules->size(); ++k)
                if (rules_[(*rules)[k]].names.empty()) names.front().add(k);
        }
        RuleSet covering = all_of(names, all_of(verbs, every(rules->size())));
        covering = all_of(resources, all_of(groups, std::move(covering)));
        if (!covering.empty()) return;
        std::size_t parts =
            product(product(verbs.size(), groups.size()), product(resources.size(), names.size()));
        if (rules->empty()) parts = std::min(parts, most_);
        if (!afford(product(parts, rules->size() / 64 + 1))) return add_missing(whole);
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (std::size_t r = 0; r < resources.size(); ++r)
                for (std::size_t v = 0; v < verbs.size(); ++v) {
                    const RuleSet some = groups[g] & resources[r] & verbs[v];
                    for (std::size_t n = 0; n < names.size(); ++n) {
                        if (full()) return;
                        if (RuleSet::meet(some, names[n])) continue;
                        const Strings name =
                            wanted.names.empty() ? Strings() : Strings{wanted.names[n]};
                        add_missing({{wanted.verbs[v]},
                                     {wanted.groups[g]},
                                     {wanted.resources[r]},
                                     name,
                                     {}});
                    }
                }
    }

    void add_paths(const PolicyRule& wanted) {
        const PolicyRule whole{wanted.verbs, {}, {}, {}, wanted.urls};
        if (!afford(product(wanted.urls.size(), paths_ + 1)) ||
            !afford(product(wanted.verbs.size(), of_paths_.size())))
            return add_missing(whole);
        const Covers urls =
            covers(wanted.urls, of_paths_, [](const HeldRule& rule, const std::string& url) {
                return std::ranges::any_of(rule.rule.urls, [&](const std::string& granted) {
                    return url_covers(granted, url);
                });
            });
        const Covers verbs = covers(wanted.verbs, of_paths_, std::mem_fn(&HeldRule::has_verb));
        if (!all_of(urls, all_of(verbs, every(of_paths_.size()))).empty()) return;
        std::size_t parts = product(urls.size(), verbs.size());
        if (of_paths_.empty()) parts = std::min(parts, most_);
        if (!afford(product(parts, of_paths_.size() / 64 + 1))) return add_missing(whole);
        for (std::size_t u = 0; u < urls.size(); ++u)
            for (std::size_t v = 0; v < verbs.size(); ++v) {
                if (full()) return;
                if (!RuleSet::meet(urls[u], verbs[v]))
                    add_missing({{wanted.verbs[v]}, {}, {}, {}, {wanted.urls[u]}});
            }
    }

    const PolicyRules& rules_;
    std::vector<std::unique_ptr<const HeldRule>> held_;  ///< of rules_, once they are looked at
    std::unordered_map<std::string_view, std::vector<std::size_t>> by_resource_;
    std::vector<std::size_t> of_paths_;
    std::size_t paths_ = 0;
    std::vector<std::size_t> seen_;
    std::size_t round_ = 0;
    std::size_t left_ = kMostSteps;
    std::size_t most_;
    PolicyRules missing_;
};

}  // namespace

PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted, std::size_t most) {
    Comparison comparison(held, most);
    for (const PolicyRule& rule : wanted) comparison.add(rule);
    return std::move(comparison).missing();
}

PolicyRules compacted(const PolicyRules& rules) {
    struct Place {
        std::size_t index;
        std::set<std::string_view> verbs;
    };
    std::map<std::tuple<Strings, Strings, Strings, Strings>, Place> places;
    PolicyRules compact;
    for (const PolicyRule& rule : rules) {
        const auto [at, fresh] =
            places.try_emplace({rule.groups, rule.resources, rule.names, rule.urls},
                               Place{compact.size(), {rule.verbs.begin(), rule.verbs.end()}});
        if (fresh) {
            compact.push_back(rule);
            continue;
        }
        for (const std::string& verb : rule.verbs)
            if (at->second.verbs.insert(verb).second)
                compact[at->second.index].verbs.push_back(verb);
    }
    return compact;
}

}  // namespace muster::apiserver
