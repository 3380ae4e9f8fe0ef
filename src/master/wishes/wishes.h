#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace muster::master {

/// A machine of the cluster on which no new pod of the job is to be placed.
struct LeftOut {
    std::string host;
    std::optional<WallTime> until = {};  ///< unset: as long as there is the job

    friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

/// What a job's master wants of whoever makes its pods. All of it, not what is new.
struct Wish {
    std::vector<LeftOut> left_out = {};    ///< the newest last
    std::vector<std::string> moved = {};   ///< pods to be followed by others elsewhere
    std::vector<std::string> spares = {};  ///< pods that train nothing

    friend bool operator==(const Wish&, const Wish&) = default;
};

/// Which wish follows from what a master knows of its agents.
///
/// - The machine of a node that the policy took out of the world is left out for as long as that
///   counts. The node's own pod needs no wish: its agent ends, and the operator replaces it.
/// - A pod that came after that and is on that machine all the same, as its replacement may be, is
///   moved. Pods that were there before stay: they have shown nothing, and a move costs a restart.
/// - Spares are the pods of agents that have no place in the world that runs, once nothing has
///   changed for `kSettles`: who joins may be about to enlarge it. While no world runs, those of the
///   last one are.
///
/// Names come from agents: one that can't be that of an object is as if it were not told.
///
/// Pure. Report events, then call advance().
class Wishes {
  public:
    static constexpr Duration kSettles = std::chrono::seconds(30);
    static constexpr std::size_t kMostLeftOut = 32;  ///< the newest
    static constexpr std::size_t kMostSpares = 256;

    struct Place {
        std::string pod;
        std::string host;
        bool is_new = false;  ///< no master had told its agent anything before
    };

    /// `kept`: as an earlier master left it. What can't be read of it is skipped.
    explicit Wishes(const std::string& kept);
    /// The machines that are left out, for the master after this one.
    std::string kept() const;

    void joined(const std::string& incarnation, Place place);
    void lost(const std::string& incarnation);
    void excluded(const std::string& incarnation, const std::string& host,
                  std::optional<WallTime> until);
    /// The members of the world that runs; nullopt: none does.
    void world_is(std::optional<std::set<std::string>> members);

    void advance(Instant now);
    Instant wake_at() const { return settles_at_; }

    /// nullopt: nothing is known to wish for yet, as of a master whose agents still come.
    std::optional<Wish> wish(WallTime wall) const;

  private:
    struct Agent {
        Place place;
        bool came_after = false;  ///< its machine was left out already
    };

    bool is_left_out(const std::string& host) const;
    void leave_out(LeftOut one);

    std::vector<LeftOut> left_out_;
    std::map<std::string, Agent> agents_;           ///< by incarnation
    std::optional<std::set<std::string>> members_;  ///< by incarnation
    std::set<std::string> spares_;                  ///< by incarnation
    bool changed_ = false;                          ///< since the last advance()
    Instant settles_at_ = Instant::max();
    bool knows_spares_ = false;
};

}  // namespace muster::master
