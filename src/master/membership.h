#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "master/service/vocabulary.h"

namespace muster::master {

struct MembershipLimits {
    int min_nodes = 1;
    int max_nodes = 1;
    /// Worlds have a multiple of so many nodes.
    int node_unit = 1;
    /// Nodes that would make a larger world wait until one is made for another reason.
    bool grow_at_failure = false;
    /// How long the first world waits for more than the minimum.
    Duration last_call = std::chrono::seconds(30);
    /// How long a new master waits for members of the world that it finds. Longer than it takes to
    /// notice that a node is silent.
    Duration rejoin = std::chrono::seconds(10);
    /// By then everybody has come back to a new master who can reach it at all. More than agents
    /// wait between two tries.
    Duration reconnect_grace = std::chrono::seconds(2);
};

/// kInvalid, with the flag that is wrong: more at least than at most, a unit that no number of
/// nodes in between is a multiple of, a number below one.
Result<void> check(const MembershipLimits& limits);

/// An agent that has joined.
struct Node {
    std::string incarnation;        ///< of the agent: another for each life
    std::optional<Slot> slot = {};  ///< that it was given; without one it gets a free one
    std::string address = {};
    int local_size = 1;
    std::string rack = {};  ///< a label; empty: not known
    int store_port = 0;
    /// What it has run since before it joined, as it was told: a new master finds the old one's
    /// world by that.
    std::optional<World> holds = {};
    /// The newest generation whose workers it has told to stop: that one can't go on.
    std::optional<Generation> gave_up = {};
    /// A worker of what it holds has died: that can't go on as it is.
    bool failed = false;
};

/// Who is missing, for people and for whoever makes nodes.
struct Shortage {
    int have = 0;              ///< nodes that a world could be made of
    int need = 0;              ///< at least
    std::vector<Slot> absent;  ///< slots below max_nodes that nobody holds
    Instant since;

    friend bool operator==(const Shortage&, const Shortage&) = default;
};

/// Who is there, and which of them run together.
///
/// - The first world is made of max_nodes at once, or of at least min_nodes when the last call is
///   over. The last call begins when the minimum is there and is not prolonged by anybody, so that
///   one who comes and goes can't postpone it.
/// - A later one is made at once of whoever is there, if these are enough; a world that becomes too
///   small begins anew as the first one did.
/// - Worlds have a multiple of node_unit nodes. Who is left over waits as a spare and disturbs
/// nobody;
///   a spare takes the slot of a member that is lost, and all others keep their places.
/// - Nodes that make another whole unit are taken in at once, unless growth is held back; with
///   grow_at_failure when the next world is made.
/// - Ranks go by slots; where nodes tell their racks, those of a rack stand together.
/// - A new master takes over the newest world that its nodes hold when all of its members have
///   joined and none has stopped its workers: who was not told of it yet is told then. It does not
///   wait for a member whose slot somebody else was given, and for others until its patience ends;
///   then they are lost as any other: soon, where the world has to begin anew all the same since a
///   worker has died. Until then nobody has a place, whatever slot he was given: a
///   member keeps the one that it has in its world, and who that is shows when all have come. For
///   the same reason it waits a little where nobody holds anything, or only a world that was to
///   end: spares, newcomers and who was lost may be the first to come, and be enough.
///
/// Pure: advance() after each change, and when wake_at() has come.
class Membership {
  public:
    /// `epoch`: of this master. `found_world`: an earlier master made worlds.
    Membership(MembershipLimits limits, std::uint64_t epoch, bool found_world, Instant now);

    /// The slot that it has from now on. A spare's is not below max_nodes. kConflict: another agent
    /// that is there holds the slot, or has its incarnation.
    Result<Slot> join(Node node);
    /// A new agent goes on with the workers of one whose process has ended, in its slot and in the
    /// world. kNotFound: the other is not there any more. Otherwise as join().
    Result<Slot> succeed(const std::string& incarnation, Node node);
    /// Its connection broke, it fell silent, or it left. What is not there is no error: news cross.
    void lost(const std::string& incarnation, Instant now);
    /// What an agent that is there has and has stopped by now: a new master may find a world that
    /// its agents begin only now, as the master before has told them.
    void holds(const std::string& incarnation, const std::optional<World>& held,
               std::optional<Generation> gave_up, bool failed = false);
    /// Nothing of that agent's counts any more, and it may not join again.
    void exclude(const std::string& incarnation, Instant now);
    /// The workers of the world have to begin anew, whoever is in it then.
    void restart(Instant now);
    /// The only member of the world has begun its workers anew itself: this is its attempt now.
    void restarted_alone(int restarts);
    /// That attempt, and all before it, was to end: the master that decided it may have told
    /// nobody, or there is a newer world whose members have not come yet.
    void was_to_end(Generation generation, int restarts) { to_end_ = {generation, restarts}; }
    /// While it is held back no world is made of more nodes than run.
    void hold_growth(bool held) { growth_held_ = held; }
    /// While it is held back no first world is made.
    void hold_first(bool held) { first_held_ = held; }
    /// A first world would have been made by advance() but for that.
    bool is_held() const { return first_waits_; }

    /// Makes a world if one is to be made. True: world() is another than before.
    bool advance(Instant now);
    /// When advance() may do something without another change; Instant::max(): never.
    Instant wake_at() const;

    /// The world that runs, with all of its members there; null: none does.
    const World* world() const { return world_ ? &*world_ : nullptr; }
    /// The slot of an agent that is there.
    std::optional<Slot> slot_of(const std::string& incarnation) const;
    /// The incarnation of the agent that has the slot; null: nobody has.
    const std::string* holder(Slot slot) const {
        const auto held = nodes_.find(slot);
        return held == nodes_.end() ? nullptr : &held->second.node.incarnation;
    }
    std::size_t nodes() const { return nodes_.size(); }
    /// Of the smallest world that may be, and of the largest that could be made.
    int least() const;
    int usable() const;
    /// A world of an earlier master may still be found.
    bool is_rejoining() const { return rejoin_until_.has_value(); }
    /// While there is no world, and no last call either.
    std::optional<Shortage> shortage() const;

  private:
    struct Held {
        Node node;
        Slot slot;
    };
    enum class Found { kWhole, kBroken, kNotYet };

    bool is_spare(Slot slot) const { return slot >= limits_.max_nodes; }
    Slot free_slot() const;
    void put(Slot slot, Node node);
    void take(Slot slot);
    void take_spares();
    void remember_last(World world);
    int places() const;
    void find(const Held& held);
    Found found() const;
    bool has_failed() const;
    bool is_replaced(const Member& member) const;
    bool rejoin(Instant now);
    void give_places(const std::map<int, Member>& members);
    bool may_form(Instant now);
    void form();
    void end_world(Instant now);
    std::vector<const Held*> chosen() const;

    MembershipLimits limits_;
    std::uint64_t epoch_;
    std::uint64_t number_ = 0;  ///< of the newest generation that is known
    std::map<Slot, Held> nodes_;
    std::unordered_map<std::string, Slot> slots_;  ///< by incarnation
    std::set<std::string> excluded_;
    Slot first_free_ = 0;  ///< all below are taken
    std::optional<World> world_;
    std::optional<World> last_;            ///< the newest, also when it has ended
    std::unordered_set<Slot> last_slots_;  ///< of its members
    std::set<Slot> vacated_;               ///< those of them that nobody has
    bool last_call_first_ = true;          ///< a world that is not full waits for the last call
    bool growth_held_ = false;
    bool first_held_ = false;
    bool first_waits_ = false;
    std::optional<Instant> enough_since_;     ///< the last call began
    Instant ended_;                           ///< since when there is no world
    std::optional<Instant> rejoin_until_;     ///< a world of an earlier master may be found
    std::optional<Instant> reconnect_until_;  ///< who can come back at once has not all done so
    std::pair<Generation, int> to_end_ = {{}, -1};  ///< attempts up to that one
    World newest_;                          ///< that nodes hold, with the members known so far
    std::map<int, Member> newest_members_;  ///< by their group ranks
};

}  // namespace muster::master
