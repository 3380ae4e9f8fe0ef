#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "master/service/vocabulary.h"

namespace muster::master {

/// Of what one master keeps in all.
struct KvLimits {
    std::size_t name = 1024;                    ///< bytes of one
    std::size_t value = std::size_t{1} << 20;   ///< bytes of one
    std::size_t bytes = std::size_t{64} << 20;  ///< of names and values together
    std::size_t names = 100'000;                ///< keys, barriers and points
    std::size_t waits = 100'000;                ///< names that somebody waits for
};

/// What agents keep with their master, and where they wait for each other: keys, barriers, and
/// points that each member joins.
///
/// - A generation has keys of its own. They end with it, and whoever waits is told why it ended.
/// - A member is its group rank: an agent that goes on with the workers of another is the same one.
/// - A member whose workers have all ended well comes nowhere any more, and nobody waits for it.
/// - Bounded: what would not fit is refused.
///
/// Pure. A waiter is a number that the caller gives; each asks once. After each call
/// take_answered() has those who have their answers.
class KvStore {
  public:
    using Waiter = std::uint64_t;
    using Answered = std::vector<std::pair<Waiter, Result<KvAnswer>>>;

    explicit KvStore(std::uint64_t epoch, KvLimits limits = {}) : epoch_(epoch), limits_(limits) {}

    /// What runs now; null: nothing does. `why`: what ran before does so no more.
    void runs(const World* world, const std::string& why);
    /// All workers of that member ended with 0. Of another generation: nothing.
    void done(const Generation& generation, int rank);

    /// `rank`: the caller's place in what runs; nothing: it has none. Errors are kGone, when these
    /// are not the keys that the caller means; kForbidden, when it is no member; kInvalid, when
    /// there can be no such key, or no sum; kTooLarge, when there is no room.
    void ask(Waiter waiter, std::optional<int> rank, KvRequest request);
    /// It wants no answer any more.
    void forget(Waiter waiter);
    Answered take_answered() { return std::exchange(answered_, {}); }

    std::size_t names() const { return names_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t waits() const { return waits_; }

  private:
    /// KvStore, and who waits for those that are missing.
    struct Space {
        std::unordered_map<std::string, std::string> values;
        std::unordered_map<std::string, std::set<Waiter>> awaited;
    };
    /// A barrier or a point.
    struct Meeting {
        std::map<int, int> come;  ///< ranks; at a barrier how often each waits
        std::set<Waiter> waiters;
        bool over = false;  ///< all have come; never of a barrier
    };
    using Meetings = std::map<std::string, Meeting>;
    struct Wait {
        Space* space = nullptr;  ///< for keys in it; null: at a meeting
        std::vector<std::string> names = {};
        Meetings* meetings = nullptr;
        int rank = 0;
    };
    /// Of the generation that runs.
    struct Running {
        Generation generation;
        int restarts = 0;
        std::set<int> expected;  ///< ranks that may still come
        Space space;
        Meetings barriers;
        Meetings points;
    };

    Result<Space*> space_of(const KvSpace& asked, std::optional<int> rank);
    Result<void> check_name(const std::string& name) const;
    Result<void> check_room(std::size_t names, std::size_t bytes, std::size_t waits) const;
    Result<void> put(Space& space, const std::string& key, std::string value);
    void look_at(Space& space, const std::string& key);
    bool all_have_come(const Meeting& meeting) const;
    void look_at(Meetings& meetings, Meetings::iterator meeting);
    void look_at_all(Meetings& meetings);
    void drop(Meetings& meetings, Meetings::iterator meeting);
    void answer(Waiter waiter, Result<KvAnswer> with);
    void end(const std::string& why);

    // One for each kind of request; nothing: it waits, or has its answer.
    using Outcome = Result<std::optional<KvAnswer>>;
    Outcome enter(Waiter waiter, Meetings& meetings, int rank, std::string name);
    Outcome act(Waiter waiter, Space& space, int rank, SetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, GetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, AddToKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, CompareSetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, DeleteKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, AwaitKeys& what);
    Outcome act(Waiter waiter, Space& space, int rank, EnterBarrier& what);
    Outcome act(Waiter waiter, Space& space, int rank, JoinSyncPoint& what);
    Outcome act(Waiter waiter, Space& space, int rank, AwaitSyncPoint& what);

    std::uint64_t epoch_;
    KvLimits limits_;
    Space of_job_;
    std::optional<Running> running_;
    std::optional<std::pair<Generation, std::string>> ended_;  ///< the newest that ended, and why
    std::unordered_map<Waiter, Wait> waiting_;
    Answered answered_;
    std::size_t names_ = 0;
    std::size_t bytes_ = 0;
    std::size_t waits_ = 0;
};

}  // namespace muster::master
