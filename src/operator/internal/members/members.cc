#include "operator/internal/members/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"

namespace muster::operators {
namespace {

/// No higher id than that of any other kind's replica. A job that has used up all of them, which
/// takes days of failures, makes replicas again under their own names.
constexpr std::int32_t kIds = jobs::kMaxReplicas;

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
    return members;
}

jobs::ReplicaMembers Members::written() const {
    jobs::ReplicaMembers written{.ids = ids_.to_string(), .ranks = {}, .next = next_};
    for (const auto& [id, rank] : ranks_) written.ranks.emplace(std::to_string(id), rank);
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
        IndexSet taken;
        for (auto id = members_.ids_.next(0); id >= 0; id = members_.ids_.next(id + 1))
            taken.insert(members_.rank_of(id));
        for (std::int32_t rank = 0; members_.size() < wanted && rank < kIds; ++rank)
            if (!taken.contains(rank)) enter(rank);
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
    edit.grow_to(changes.wanted);
    return edit.take();
}

}  // namespace muster::operators
