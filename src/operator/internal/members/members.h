#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "jobs/job.h"
#include "operator/internal/members/index_set.h"

namespace muster::operators {

using OwnResourcesByRank = std::map<std::int32_t, jobs::OwnResources>;

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
    /// What the replicas of some ranks request in place of what their template has, by rank.
    const OwnResourcesByRank& own_resources() const { return own_resources_; }
    /// By id: the restarts that its rank had had when it took that over. Its pod carries them.
    const std::map<std::int32_t, std::int32_t>& restarts() const { return restarts_; }
    /// Those of replicas that left without another one following them: no pod carries them.
    std::int32_t former_restarts() const { return former_restarts_; }

    friend bool operator==(const Members&, const Members&) = default;

  private:
    friend class MembersEdit;

    void find_takeovers();
    void read_restarts(const jobs::ReplicaMembers& written);
    void read_own_resources(const jobs::ReplicaMembers& written);
    IndexSet ranks() const;

    IndexSet ids_;
    std::map<std::int32_t, std::int32_t> ranks_;  ///< by id, where it differs
    std::int32_t next_ = 0;
    std::vector<Takeover> takeovers_;  ///< by `from`; follows from the others
    OwnResourcesByRank own_resources_;
    std::map<std::int32_t, std::int32_t> restarts_;
    std::int32_t former_restarts_ = 0;
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
    /// What ranks request from now on; one without amounts has what the template has. Those of ranks
    /// that go end by themselves.
    OwnResourcesByRank own_resources = {};
};

/// The members after these changes. Ids that are not members are skipped. A pure function: equal
/// arguments give equal results; without a change the result equals `before`.
Members next_members(const Members& before, const MemberChanges& changes);

/// The members of a type that leave, in order.
std::vector<std::int32_t> leaving_ids(const Members& before, const Members& next);

/// `next` with the restarts that those who leave have had: each by id, with those before it in its
/// rank. Whoever enters with the rank of one that leaves takes them over; the others become former
/// ones. So their sum stays the same. A pure function.
Members with_restarts(const Members& before, const Members& next,
                      const std::map<std::int32_t, std::int32_t>& of_those_who_leave);

/// The members of a job by replica type; null for kinds whose ids don't rise.
using JobMembers = std::vector<Members>;
using JobMembersPtr = std::shared_ptr<const JobMembers>;

}  // namespace muster::operators
