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
    /// The number of nodes in a world is a multiple of this.
    int node_unit = 1;
    /// Nodes that would enlarge the world wait until a new one is made for another reason.
    bool grow_at_failure = false;
    /// How long the first world waits for nodes beyond the minimum.
    Duration last_call = std::chrono::seconds(30);
    /// How long a new master waits for the members of the world that it finds. Longer than it takes
    /// to notice that a node is silent.
    Duration rejoin = std::chrono::seconds(10);
    /// How long a new master waits for agents that can reach it at all. Longer than agents wait
    /// between two attempts to connect.
    Duration reconnect_grace = std::chrono::seconds(2);
    /// Both begin when the first agent has reached it: a master that is not beside an agent may be
    /// there long before agents can find it.
    bool await_first = false;
};

/// kInvalid, naming the flag: a minimum above the maximum, a unit without a multiple between them,
/// or a number below one.
Result<void> check(const MembershipLimits& limits);

/// An agent that has joined.
struct Node {
    std::string incarnation;        ///< of the agent; unique to each agent process
    std::optional<Slot> slot = {};  ///< requested; without one it gets a free slot
    std::string address = {};
    std::vector<std::string> addresses = {};  ///< its others
    int local_size = 1;
    std::string rack = {};  ///< a label; empty: unknown
    int store_port = 0;
    /// The world it ran when it joined, as far as the agent knew it: this is how a new master finds
    /// the world of the previous one.
    std::optional<World> holds = {};
    /// The newest generation whose workers it was told to stop: that one can't continue.
    std::optional<Generation> gave_up = {};
    /// A worker of its world has died, so that world can't continue as it is.
    bool failed = false;
};

/// What a world lacks, for people and for autoscalers.
struct Shortage {
    int have = 0;  ///< nodes available for a world
    int need = 0;  ///< the minimum
    /// The free slots below max_nodes, each with the address of the node that had it in the last
    /// world; empty: none had.
    std::vector<std::pair<Slot, std::string>> absent;
    Instant since;

    friend bool operator==(const Shortage&, const Shortage&) = default;
};

/// Decides which of the joined nodes run together.
///
/// - The first world is made at once if max_nodes have joined, or of at least min_nodes when the
///   last call is over. The last call begins when the minimum has joined. It is never prolonged, so
///   that a node that repeatedly joins and leaves can't postpone it.
/// - Later worlds are made at once of the nodes that are there, if these are enough; after a world
///   became too small, the next one is made like the first.
/// - A world has a multiple of node_unit nodes. The others wait as standby nodes and
///   disturb nothing; a standby node takes the slot of a lost member, and all other members keep
///   their places.
/// - Nodes that complete another unit are added at once, unless growth is held back; with
///   grow_at_failure, when the next world is made.
/// - Ranks follow slots; if nodes name their racks, those of one rack have consecutive ranks.
/// - A new master takes over the newest world that its nodes hold once all members have joined and
///   none has stopped its workers; members that were not told of it yet are told then. It does not
///   wait for a member whose slot another agent was given. It waits for the others until its
///   patience ends; then they are lost like any other node: soon, if the world must restart anyway
///   because a worker has died. Until then no agent has a place, whatever slot it was given: a
///   member keeps its place in its world, and who is a member is known only when all have come. For
///   the same reason it waits briefly if no node holds a world, or only one that was about to end:
///   standby nodes, newcomers and lost nodes might come first and be enough.
///
/// Pure: call advance() after each change and when wake_at() has come.
class Membership {
  public:
    /// `epoch`: of this master. `found_world`: an earlier master has made worlds.
    Membership(MembershipLimits limits, std::uint64_t epoch, bool found_world, Instant now);

    /// Returns the agent's slot from now on; that of a standby node is max_nodes or above.
    /// kConflict: another joined agent holds the slot, or has the same incarnation.
    Result<Slot> join(Node node);
    /// A new agent has taken over the workers of one whose process has ended; it gets its slot and
    /// its place in the world. kNotFound: the other agent is no longer there. Otherwise like
    /// join().
    Result<Slot> succeed(const std::string& incarnation, Node node);
    /// An agent has reached this master; see MembershipLimits::await_first.
    void reached(Instant now);
    /// Other limits, for the next world and those after it. Not for await_first.
    void limit_to(MembershipLimits limits);
    /// Whether a world with those limits would be larger than the one that runs, and may be.
    bool would_grow_with(const MembershipLimits& limits) const;
    /// The agent's connection broke, it fell silent, or it left. Unknown agents are ignored:
    /// messages may cross.
    void lost(const std::string& incarnation, Instant now);
    /// Where a joined agent is reached, from the next world on.
    void has_address(const std::string& incarnation, std::string address);
    /// What a joined agent holds and has stopped by now: a new master may find a world that agents
    /// start only now, because the previous master told them to.
    void holds(const std::string& incarnation, const std::optional<World>& held,
               std::optional<Generation> gave_up, bool failed = false);
    /// Ignores everything of that agent from now on; it may not join again.
    void exclude(const std::string& incarnation, Instant now);
    /// The workers of the world must restart, with whichever nodes are there then.
    void restart(Instant now);
    /// The only member of the world has restarted its workers itself; this is the attempt now.
    void restarted_alone(int restarts);
    /// That attempt and all before it were to end. The master that decided so may have told no
    /// agent, or there is a newer world whose members have not come yet.
    void was_to_end(Generation generation, int restarts) { to_end_ = {generation, restarts}; }
    /// While true, no world with more nodes than the running one is made.
    void hold_growth(bool held) { growth_held_ = held; }
    /// While true, no first world is made.
    void hold_first(bool held) { first_held_ = held; }
    /// Whether advance() would have made a first world but for hold_first().
    bool is_held() const { return first_waits_; }

    /// Makes a world if one is due. True if world() has changed.
    bool advance(Instant now);
    /// When advance() may have something to do without another change; Instant::max(): never.
    Instant wake_at() const;

    /// The running world, all of whose members are joined; null if there is none.
    const World* world() const { return world_ ? &*world_ : nullptr; }
    /// It, or an earlier master whose world was found.
    bool has_made_world() const { return last_.has_value(); }
    /// The slot of a joined agent.
    std::optional<Slot> slot_of(const std::string& incarnation) const;
    /// The incarnation of the agent that has the slot; null if it is free.
    const std::string* holder(Slot slot) const {
        const auto held = nodes_.find(slot);
        return held == nodes_.end() ? nullptr : &held->second.node.incarnation;
    }
    std::size_t nodes() const { return nodes_.size(); }
    /// The size of the smallest permitted world, and of the largest possible one.
    int least() const;
    int usable() const;
    /// Whether a world of an earlier master may still be found.
    bool is_rejoining() const { return rejoin_until_.has_value(); }
    /// Set while there is neither a world nor a last call.
    std::optional<Shortage> shortage() const;

  private:
    struct Held {
        Node node;
        Slot slot;
    };
    enum class Found { kWhole, kBroken, kNotYet };

    bool is_standby(Slot slot) const { return slot >= limits_.max_nodes; }
    Slot free_slot() const;
    void put(Slot slot, Node node);
    void take(Slot slot);
    void take_standbys();
    void remember_last(World world);
    int places() const;
    int usable_with(const MembershipLimits& limits) const;
    void begin_rejoin(Instant now);
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
    std::uint64_t number_ = 0;  ///< of the newest known generation
    std::map<Slot, Held> nodes_;
    std::unordered_map<std::string, Slot> slots_;  ///< by incarnation
    std::set<std::string> excluded_;
    Slot first_free_ = 0;  ///< all lower ones are taken
    std::optional<World> world_;
    std::optional<World> last_;            ///< the newest world, even if it has ended
    std::unordered_set<Slot> last_slots_;  ///< the slots of its members
    std::set<Slot> vacated_;               ///< those of them that are free
    bool last_call_first_ = true;          ///< a world below the maximum waits for the last call
    bool growth_held_ = false;
    bool first_held_ = false;
    bool first_waits_ = false;
    std::optional<Instant> enough_since_;  ///< when the last call began
    Instant ended_;                        ///< when the last world ended
    /// until then, a world of an earlier master may be found
    std::optional<Instant> rejoin_until_;
    /// until then, agents that can come back at once may be missing
    std::optional<Instant> reconnect_until_;
    std::pair<Generation, int> to_end_ = {{}, -1};  ///< all attempts up to this one
    World newest_;                          ///< held by nodes, with the members known so far
    std::map<int, Member> newest_members_;  ///< by group rank
};

}  // namespace muster::master
