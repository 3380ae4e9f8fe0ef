#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "jobs/job.h"
#include "operator/internal/members/index_set.h"

namespace muster::operators {

/// Which replicas of one type are wanted, by id, and their ranks, for a kind whose ids rise
/// (docs/design/elasticjob.md, "Ids and ranks"). A rank has one id, or two while the later one takes
/// over from the earlier one. A value.
class Members {
  public:
    /// One id takes over the rank of another one, which leaves when it has.
    struct Takeover {
        std::int32_t from = 0;
        std::int32_t to = 0;

        friend bool operator==(const Takeover&, const Takeover&) = default;
    };

    /// Ids 0 to `replicas`-1, with themselves as their ranks.
    static Members first(std::int32_t replicas);
    /// Others may write a status, too: what can't be is left out, so that the result keeps the rules.
    static Members read(const jobs::ReplicaMembers& written);
    jobs::ReplicaMembers written() const;

    const IndexSet& ids() const { return ids_; }
    bool contains(std::int32_t id) const { return ids_.contains(id); }
    std::int32_t rank_of(std::int32_t id) const { return kept_rank(id).value_or(id); }
    /// The rank, if it is not the id.
    std::optional<std::int32_t> kept_rank(std::int32_t id) const;
    const std::vector<Takeover>& takeovers() const { return takeovers_; }
    /// How many ranks there are.
    std::int32_t size() const { return ids_.size() - static_cast<std::int32_t>(takeovers_.size()); }
    std::int32_t next() const { return next_; }
    /// False once all ids are used up.
    bool may_replace() const { return next_ < jobs::kMaxReplicas; }

    friend bool operator==(const Members&, const Members&) = default;

  private:
    friend class MembersEdit;

    void find_takeovers();

    IndexSet ids_;
    std::map<std::int32_t, std::int32_t> ranks_;  ///< by id, where it differs
    std::int32_t next_ = 0;
    std::vector<Takeover> takeovers_;  ///< by `from`; follows from the others
};

/// What is to become of the replicas of a type.
struct MemberChanges {
    std::int32_t wanted = 0;         ///< how many ranks
    std::int32_t highest_seen = -1;  ///< the highest id of a pod or service that exists
    /// Replicas that are followed by others with their ranks.
    std::vector<std::int32_t> replaced = {};
    /// Ids of takeovers that have ended: `from` of a finished one, `to` of one that is not needed.
    std::vector<std::int32_t> released = {};
    /// Those that are to leave, whatever is wanted; and those that are followed by others before
    /// they leave.
    std::vector<std::int32_t> removed = {};
    std::vector<std::int32_t> migrated = {};
    /// Those that leave first when there are too many: of the other ones those with the highest
    /// ranks.
    IndexSet spares = {};
};

/// The members after these changes. Ids that are not members are skipped. A pure function: equal
/// arguments give equal results; without a change the result equals `before`.
Members next_members(const Members& before, const MemberChanges& changes);

/// The members of a job by replica type; null for kinds whose ids don't rise.
using JobMembers = std::vector<Members>;
using JobMembersPtr = std::shared_ptr<const JobMembers>;

}  // namespace muster::operators
