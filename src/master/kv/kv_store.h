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

/// Limits for all keys of one master together, unless noted.
struct KvLimits {
    std::size_t name = 1024;                    ///< bytes of one name
    std::size_t value = std::size_t{1} << 20;   ///< bytes of one value
    std::size_t bytes = std::size_t{64} << 20;  ///< bytes of all names and values
    std::size_t names = 100'000;                ///< keys, barriers and points
    std::size_t waits = 100'000;                ///< names that calls wait for
};

/// The keys that agents keep with their master, and the places where they wait for each other:
/// keys, barriers, and points that each member joins.
///
/// - Each generation has its own keys. They end with it, and callers that wait are told why it
///   ended.
/// - A member is identified by its group rank: an agent that takes over the workers of another one
///   is the same member.
/// - A member whose workers have all ended well joins nothing any more, and nothing waits for it.
/// - Bounded: what does not fit is refused.
///
/// Pure. A waiter is a number chosen by the caller, with one request. After each call
/// take_answered() returns the waiters that have their answers.
class KvStore {
  public:
    using Waiter = std::uint64_t;
    using Answered = std::vector<std::pair<Waiter, Result<KvAnswer>>>;

    explicit KvStore(std::uint64_t epoch, KvLimits limits = {}) : epoch_(epoch), limits_(limits) {}

    /// The running world; null if none runs. `why`: why the previous one no longer runs.
    void runs(const World* world, const std::string& why);
    /// All workers of that member have exited with 0. Ignored for any other generation.
    void done(const Generation& generation, int rank);

    /// Who may still come to the meetings of that generation, where their number changes while it
    /// runs. Ignored for any other generation.
    void expect(const Generation& generation, std::set<int> ranks);

    /// `rank`: the caller's group rank in the running world; nullopt if it has none. Errors: kGone
    /// if the caller means the keys of another generation or master; kForbidden if it is not a
    /// member; kInvalid for an impossible name or sum; kTooLarge if there is no room.
    void ask(Waiter waiter, std::optional<int> rank, KvRequest request);
    /// The waiter needs no answer any more.
    void forget(Waiter waiter);
    Answered take_answered() { return std::exchange(answered_, {}); }

    std::size_t names() const { return names_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t waits() const { return waits_; }

  private:
    /// The keys, and the waiters for missing ones.
    struct Space {
        std::unordered_map<std::string, std::string> values;
        std::unordered_map<std::string, std::set<Waiter>> awaited;
    };
    /// A barrier or a point.
    struct Meeting {
        std::map<int, int> come;  ///< by rank; at a barrier, how often each waits
        std::set<Waiter> waiters;
        bool over = false;  ///< all have come; always false for a barrier
    };
    using Meetings = std::map<std::string, Meeting>;
    struct Wait {
        Space* space = nullptr;  ///< where it waits for keys; null: it waits at a meeting
        std::vector<std::string> names = {};
        Meetings* meetings = nullptr;
        int rank = 0;
    };
    /// The running generation.
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

    // One handler for each kind of request; nullopt: it waits, or already has its answer.
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
    /// the newest generation that ended, and why
    std::optional<std::pair<Generation, std::string>> ended_;
    std::unordered_map<Waiter, Wait> waiting_;
    Answered answered_;
    std::size_t names_ = 0;
    std::size_t bytes_ = 0;
    std::size_t waits_ = 0;
};

}  // namespace muster::master
