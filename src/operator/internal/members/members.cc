#include "operator/internal/members/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "jobs/scale_plan.h"
#include "kube/values/quantity.h"

namespace muster::operators {
namespace {

/// No higher id than that of any other kind's replica. A job that has used up all of them, which
/// takes days of failures, makes replicas again under their own names.
constexpr std::int32_t kIds = jobs::kMaxReplicas;
/// That a status may claim for one replica, and for all that are gone: sums stay numbers.
constexpr std::int32_t kRestarts = 10'000;
constexpr std::int32_t kFormerRestarts = 1'000'000'000;

/// Of resources, as a template may have it. No real one is longer.
bool is_amount(const json::value& amount) {
    constexpr std::size_t kLongest = 32;
    const json::string* text = amount.if_string();
    if (text != nullptr && text->size() > kLongest) return false;
    const auto quantity = kube::Quantity::parse(amount);
    return quantity && !quantity->is_negative();
}
bool is_zero(const json::value& amount) { return kube::Quantity::parse(amount)->is_zero(); }

}  // namespace

Members Members::first(std::int32_t replicas) {
    Members members;
    members.next_ = std::clamp(replicas, 0, kIds);
    for (std::int32_t id = 0; id < members.next_; ++id) members.ids_.insert(id);
    return members;
}

Members Members::read(const jobs::ReplicaMembers& written) {
    Members members;
    members.ids_ = IndexSet::parse(written.ids, kIds);
    members.next_ = std::clamp(written.next, 0, kIds);
    for (auto id = members.ids_.next(0); id >= 0; id = members.ids_.next(id + 1))
        members.next_ = std::max(members.next_, id + 1);
    for (const auto& [text, rank] : written.ranks) {
        const std::int32_t id = parse_number<std::int32_t>(text).value_or(-1);
        if (id >= 0 && id != rank && members.contains(id) && rank >= 0 && rank < kIds)
            members.ranks_.emplace(id, rank);
    }
    members.find_takeovers();
    members.read_own_resources(written);
    members.read_restarts(written);
    return members;
}

void Members::read_restarts(const jobs::ReplicaMembers& written) {
    former_restarts_ = std::clamp(written.former_restarts.value_or(0), 0, kFormerRestarts);
    for (const auto& [text, restarts] : written.restarts)
        if (const std::int32_t id = parse_number<std::int32_t>(text).value_or(-1);
            id >= 0 && contains(id) && restarts > 0)
            restarts_.emplace(id, std::min(restarts, kRestarts));
}

void Members::read_own_resources(const jobs::ReplicaMembers& written) {
    const IndexSet ranks = this->ranks();
    for (const auto& [text, own] : written.resources) {
        const std::int32_t rank = parse_number<std::int32_t>(text).value_or(-1);
        if (rank < 0 || !ranks.contains(rank)) continue;
        jobs::OwnResources read;
        for (const auto& [name, amount] : own.resource)
            if (jobs::may_be_own(name) && is_amount(amount) && !is_zero(amount))
                read.resource.emplace(name, amount);
        for (const auto& [name, amount] : own.instead_of)
            if (is_amount(amount) && read.resource.contains(name))
                read.instead_of.emplace(name, amount);
        if (!read.resource.empty()) own_resources_.emplace(rank, std::move(read));
        if (own_resources_.size() == jobs::kMostOwnResources) return;
    }
}

IndexSet Members::ranks() const {
    IndexSet ranks;
    for (auto id = ids_.next(0); id >= 0; id = ids_.next(id + 1)) ranks.insert(rank_of(id));
    return ranks;
}

jobs::ReplicaMembers Members::written() const {
    jobs::ReplicaMembers written{.ids = ids_.to_string(), .ranks = {}, .next = next_};
    for (const auto& [id, rank] : ranks_) written.ranks.emplace(std::to_string(id), rank);
    for (const auto& [rank, own] : own_resources_)
        written.resources.emplace(std::to_string(rank), own);
    for (const auto& [id, restarts] : restarts_)
        written.restarts.emplace(std::to_string(id), restarts);
    if (former_restarts_ > 0) written.former_restarts = former_restarts_;
    return written;
}

std::optional<std::int32_t> Members::kept_rank(std::int32_t id) const {
    const auto kept = ranks_.find(id);
    return kept == ranks_.end() ? std::nullopt : std::optional(kept->second);
}

/// Of more than two ids of a rank, which no operator writes, the latest two stay.
void Members::find_takeovers() {
    takeovers_.clear();
    std::map<std::int32_t, std::vector<std::int32_t>> ids_by_rank;
    for (const auto& [id, rank] : ranks_) {
        std::vector<std::int32_t>& ids = ids_by_rank[rank];
        if (ids.empty() && contains(rank) && !ranks_.contains(rank)) ids.push_back(rank);
        ids.push_back(id);
    }
    for (auto& [rank, ids] : ids_by_rank) {
        if (ids.size() < 2) continue;
        std::ranges::sort(ids);
        for (std::size_t i = 0; i + 2 < ids.size(); ++i) {
            ids_.erase(ids[i]);
            ranks_.erase(ids[i]);
        }
        takeovers_.push_back({.from = ids[ids.size() - 2], .to = ids.back()});
    }
    std::ranges::sort(takeovers_, {}, &Takeover::from);
}

/// The steps from some members to the next.
class MembersEdit {
  public:
    explicit MembersEdit(const Members& before) : members_(before) {}

    void note_seen(std::int32_t highest) {
        members_.next_ = std::max(members_.next_, std::min(highest, kIds - 1) + 1);
    }
    /// One id of a rank that keeps the other.
    void release(std::int32_t id) {
        const bool shared = std::ranges::any_of(members_.takeovers_, [&](const auto& takeover) {
            return takeover.from == id || takeover.to == id;
        });
        if (shared) leave(id);
    }
    void leave(std::int32_t id) {
        if (!members_.contains(id)) return;
        members_.ids_.erase(id);
        members_.ranks_.erase(id);
        members_.restarts_.erase(id);
        std::erase_if(members_.takeovers_, [&](const auto& takeover) {
            return takeover.from == id || takeover.to == id;
        });
    }
    void replace(std::int32_t id) {
        if (!members_.contains(id)) return;
        for (const auto& takeover : members_.takeovers_)
            if (takeover.from == id) return leave(id);
        if (members_.next_ >= kIds) return;
        const std::int32_t rank = members_.rank_of(id);
        const auto from = std::ranges::find(members_.takeovers_, id, &Members::Takeover::to);
        const std::int32_t other = from == members_.takeovers_.end() ? -1 : from->from;
        leave(id);
        const std::int32_t entered = enter(rank);
        if (other >= 0) add_takeover(other, entered);
    }
    void migrate(std::int32_t id) {
        if (!members_.contains(id) || members_.next_ >= kIds) return;
        for (const auto& takeover : members_.takeovers_)
            if (takeover.from == id || takeover.to == id) return;
        add_takeover(id, enter(members_.rank_of(id)));
    }
    void shrink_to(std::int32_t wanted, const IndexSet& spares) {
        if (members_.size() <= wanted) return;
        struct Candidate {
            bool spare = false;
            std::int32_t rank = 0;
        };
        std::map<std::int32_t, std::vector<std::int32_t>> ids_by_rank;
        for (auto id = members_.ids_.next(0); id >= 0; id = members_.ids_.next(id + 1))
            ids_by_rank[members_.rank_of(id)].push_back(id);
        std::vector<Candidate> candidates;
        for (const auto& [rank, ids] : ids_by_rank)
            candidates.push_back(
                {std::ranges::all_of(ids, [&](auto id) { return spares.contains(id); }), rank});
        std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
            return a.spare != b.spare ? a.spare : a.rank > b.rank;
        });
        candidates.resize(static_cast<std::size_t>(members_.size() - std::max(wanted, 0)));
        for (const Candidate& candidate : candidates)
            for (const std::int32_t id : ids_by_rank[candidate.rank]) leave(id);
    }
    void grow_to(std::int32_t wanted) {
        if (members_.size() >= wanted) return;
        const IndexSet taken = members_.ranks();
        for (std::int32_t rank = 0; members_.size() < wanted && rank < kIds; ++rank)
            if (!taken.contains(rank)) enter(rank);
    }
    /// A rank that is free and taken again has none of its former replica.
    void forget_free_ranks() {
        if (members_.own_resources_.empty()) return;
        const IndexSet taken = members_.ranks();
        std::erase_if(members_.own_resources_,
                      [&](const auto& own) { return !taken.contains(own.first); });
    }
    void set_own_resources(const OwnResourcesByRank& all) {
        for (const auto& [rank, own] : all)
            if (own.resource.empty())
                members_.own_resources_.erase(rank);
            else
                members_.own_resources_.insert_or_assign(rank, own);
        forget_free_ranks();
    }
    void add_restarts(std::int32_t id, std::int32_t restarts) {
        members_.restarts_[id] += restarts;
    }
    void add_former_restarts(std::int32_t restarts) {
        members_.former_restarts_ =
            std::min(kFormerRestarts, members_.former_restarts_ + std::min(restarts, kRestarts));
    }
    Members take() { return std::move(members_); }

  private:
    std::int32_t enter(std::int32_t rank) {
        std::int32_t id = members_.next_;
        if (id < kIds)
            ++members_.next_;
        else
            for (id = 0; members_.contains(id);) ++id;
        members_.ids_.insert(id);
        if (id != rank) members_.ranks_.emplace(id, rank);
        return id;
    }
    void add_takeover(std::int32_t from, std::int32_t to) {
        const auto place =
            std::ranges::upper_bound(members_.takeovers_, from, {}, &Members::Takeover::from);
        members_.takeovers_.insert(place, {.from = from, .to = to});
    }

    Members members_;
};

Members next_members(const Members& before, const MemberChanges& changes) {
    MembersEdit edit(before);
    edit.note_seen(changes.highest_seen);
    for (const std::int32_t id : changes.released) edit.release(id);
    for (const std::int32_t id : changes.removed) edit.leave(id);
    // Replicas that leave anyway are not replaced before.
    edit.shrink_to(changes.wanted, changes.spares);
    for (const std::int32_t id : changes.replaced) edit.replace(id);
    for (const std::int32_t id : changes.migrated) edit.migrate(id);
    edit.forget_free_ranks();
    edit.grow_to(changes.wanted);
    edit.set_own_resources(changes.own_resources);
    return edit.take();
}

std::vector<std::int32_t> leaving_ids(const Members& before, const Members& next) {
    std::vector<std::int32_t> leaving;
    for (auto id = before.ids().next(0); id >= 0; id = before.ids().next(id + 1))
        if (!next.contains(id)) leaving.push_back(id);
    return leaving;
}

Members with_restarts(const Members& before, const Members& next,
                      const std::map<std::int32_t, std::int32_t>& of_those_who_leave) {
    std::map<std::int32_t, std::int32_t> entered;  // by rank
    for (auto id = next.ids().next(0); id >= 0; id = next.ids().next(id + 1))
        if (!before.contains(id)) entered[next.rank_of(id)] = id;
    MembersEdit edit(next);
    for (const auto& [id, restarts] : of_those_who_leave) {
        if (restarts <= 0) continue;
        if (const auto heir = entered.find(before.rank_of(id)); heir != entered.end())
            edit.add_restarts(heir->second, restarts);
        else
            edit.add_former_restarts(restarts);
    }
    return edit.take();
}

}  // namespace muster::operators
