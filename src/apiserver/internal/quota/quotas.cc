#include "apiserver/internal/quota/quotas.h"

#include <fmt/format.h>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// What an update takes in addition.
ResourceList increase(const ResourceList& before, ResourceList after) {
    for (const auto& [name, amount] : before) {
        const auto entry = after.find(name);
        if (entry == after.end()) continue;
        if (entry->second <= amount)
            after.erase(entry);
        else
            entry->second = entry->second - amount;
    }
    return after;
}

std::string names_of(const QuotaAccount& account, std::string_view resource) {
    std::string text;
    for (const auto& [name, most] : account.hard())
        if (counted_resource(name) == resource) text += (text.empty() ? "" : ",") + name;
    return text;
}

}  // namespace

Quotas::Claim::~Claim() {
    if (all_ == nullptr) return;
    const auto [first, last] = all_->equal_range(key_);
    for (auto one = first; one != last; ++one) {
        if (one->second.id != id_) continue;
        release(*all_, one);
        return;
    }
}

void Quotas::release(Reservations& all, Reservations::iterator one) {
    for (const auto& [account, share] : one->second.shares) account->release(share);
    all.erase(one);
}

Quotas::Held* Quotas::find(const NamespacedName& key) {
    const auto space = spaces_.find(key.namespace_);
    if (space == spaces_.end()) return nullptr;
    const auto held = space->second.find(key.name);
    return held == space->second.end() ? nullptr : &held->second;
}

void Quotas::put(const NamespacedName& key, const json::object& quota) {
    auto next = std::make_shared<QuotaAccount>(quota);
    Held& held = spaces_[key.namespace_][key.name];
    if (held.account != nullptr && held.account->counts_the_same(*next))
        held.account->take_limits_of(*next);
    else
        held = {std::move(next)};
}

void Quotas::remove(const NamespacedName& key) {
    const auto space = spaces_.find(key.namespace_);
    if (space == spaces_.end()) return;
    space->second.erase(key.name);
    if (space->second.empty()) spaces_.erase(space);
}

bool Quotas::count(const NamespacedName& key, const WatchCache& cache, std::size_t most,
                   WallTime now) {
    Held* held = find(key);
    if (held == nullptr || !held->progress) return true;
    QuotaAccount& account = *held->account;
    Held::Progress& progress = *held->progress;
    for (auto resource = account.resources().lower_bound(progress.resource);
         resource != account.resources().end(); ++resource) {
        if (*resource != progress.resource) progress = {*resource, ""};
        const WatchCache::Objects& objects = cache.objects(*resource);
        auto object = objects.upper_bound({key.namespace_, progress.after});
        for (; object != objects.end() && object->first.namespace_ == key.namespace_; ++object) {
            if (most-- == 0) return false;
            const Usage usage = usage_of(*resource, object->second.tree()->get_object(), now);
            const store::StoreKey counted{*resource, key.namespace_, object->first.name};
            account.put(counted, &usage);
            ending_.follow(counted, usage.until);
            progress.after = object->first.name;
        }
    }
    held->progress.reset();
    return true;
}

const QuotaAccount* Quotas::counted(const NamespacedName& key) const {
    const auto space = spaces_.find(key.namespace_);
    if (space == spaces_.end()) return nullptr;
    const auto held = space->second.find(key.name);
    if (held == space->second.end() || held->second.progress) return nullptr;
    return held->second.account.get();
}

std::vector<NamespacedName> Quotas::put(Space& space, const store::StoreKey& key,
                                        const json::object* object, WallTime now) {
    std::vector<NamespacedName> changed;
    std::optional<Usage> usage;
    for (auto& [name, held] : space) {
        if (!held.account->counts(key.resource)) continue;
        if (!usage && object != nullptr) usage = usage_of(key.resource, *object, now);
        if (held.account->put(key, usage ? &*usage : nullptr))
            changed.push_back({key.namespace_, name});
    }
    ending_.follow(key, usage ? usage->until : std::nullopt);
    return changed;
}

std::vector<NamespacedName> Quotas::observe(const store::StoreChange& change, WallTime now) {
    const auto space = spaces_.find(change.key.namespace_);
    if (space == spaces_.end()) return {};
    const auto [first, last] = reservations_->equal_range(change.key);
    for (auto one = first; one != last;) release(*reservations_, one++);
    return put(space->second, change.key,
               change.object == nullptr ? nullptr : &change.object->get_object(), now);
}

std::vector<NamespacedName> Quotas::count_ended(const WatchCache& cache, std::size_t most,
                                                WallTime now) {
    std::vector<NamespacedName> changed;
    for (; most > 0; --most) {
        const auto key = ending_.take(now);
        if (!key) break;
        const auto space = spaces_.find(key->namespace_);
        const CachedObject* pod = cache.find(key->resource, key->namespace_, key->name);
        if (space == spaces_.end() || pod == nullptr) continue;
        for (NamespacedName& one : put(space->second, *key, &pod->tree()->get_object(), now))
            changed.push_back(std::move(one));
    }
    return changed;
}

StatusResult<Quotas::Claim> Quotas::claim(const kube::ResourceType& type,
                                          const store::StoreKey& key, const json::object* before,
                                          const json::object& after, WallTime now) {
    const auto space = spaces_.find(key.namespace_);
    if (space == spaces_.end() || key.namespace_.empty()) return Claim();
    if (before != nullptr && !may_take_more(key.resource, *before, after)) return Claim();
    const Usage usage = usage_of(key.resource, after, now);
    const std::optional<Usage> usage_before =
        before == nullptr ? std::nullopt : std::optional(usage_of(key.resource, *before, now));
    Reservation wanted{.id = next_id_++, .shares = {}};
    for (const auto& [name, held] : space->second) {
        const QuotaAccount& account = *held.account;
        if (!account.counts(key.resource) || !account.is_in_scope(usage)) continue;
        if (usage.is_pod)
            if (const std::string problem = account.missing_amounts(name, after); !problem.empty())
                return forbidden(type, key.name, problem);
        if (held.progress)
            return forbidden(type, key.name,
                             fmt::format("status unknown for quota: {}, resources: {}", name,
                                         names_of(account, key.resource)));
        ResourceList share = account.share_of(usage);
        if (usage_before) share = increase(account.share_of(*usage_before), std::move(share));
        if (share.empty()) continue;
        if (const std::string problem = account.excess(name, share); !problem.empty())
            return forbidden(type, key.name, problem);
        wanted.shares.emplace_back(held.account, std::move(share));
    }
    if (wanted.shares.empty()) return Claim();
    for (const auto& [account, share] : wanted.shares) account->reserve(share);
    const std::uint64_t id = wanted.id;
    reservations_->emplace(key, std::move(wanted));
    return Claim(reservations_, key, id);
}

}  // namespace muster::apiserver
