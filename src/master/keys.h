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
#include "master/world.h"

namespace muster::master {

/// Whose keys they are.
struct KeySpace {
    /// Of the master that has them. They live as long as it does: what is asked of another is
    /// refused, so that nobody takes an empty store for the one that was filled.
    std::uint64_t epoch = 0;
    /// That the caller runs, with keys that end with it. Nothing: those of the job.
    std::optional<Generation> generation = {};

    friend bool operator==(const KeySpace&, const KeySpace&) = default;
};

struct SetKey {
    std::string key, value;
    friend bool operator==(const SetKey&, const SetKey&) = default;
};
/// KeyAnswer::value; nothing: there is no such key.
struct GetKey {
    std::string key;
    friend bool operator==(const GetKey&, const GetKey&) = default;
};
/// KeyAnswer::number is the sum. Values are decimal text, and a key that is missing has 0.
struct AddToKey {
    std::string key;
    std::int64_t amount = 0;
    friend bool operator==(const AddToKey&, const AddToKey&) = default;
};
/// KeyAnswer::yes: it had what was expected, and has what is desired. In any case ::value is what
/// it has now.
struct CompareSetKey {
    std::string key;
    std::optional<std::string> expected;  ///< nothing: that there is no such key
    std::string desired;
    friend bool operator==(const CompareSetKey&, const CompareSetKey&) = default;
};
/// KeyAnswer::yes: there was one.
struct DeleteKey {
    std::string key;
    friend bool operator==(const DeleteKey&, const DeleteKey&) = default;
};
/// Answered when all of them are there.
struct AwaitKeys {
    std::vector<std::string> keys;
    friend bool operator==(const AwaitKeys&, const AwaitKeys&) = default;
};
/// Answered when all members are at that barrier, which is then empty and may be entered again.
struct EnterBarrier {
    std::string name;
    friend bool operator==(const EnterBarrier&, const EnterBarrier&) = default;
};
/// The member has come to that point. KeyAnswer::yes: all have.
struct JoinSync {
    std::string name;
    friend bool operator==(const JoinSync&, const JoinSync&) = default;
};
/// Answered when all members have joined it.
struct AwaitSync {
    std::string name;
    friend bool operator==(const AwaitSync&, const AwaitSync&) = default;
};

struct KeyRequest {
    KeySpace space;
    std::variant<SetKey, GetKey, AddToKey, CompareSetKey, DeleteKey, AwaitKeys, EnterBarrier,
                 JoinSync, AwaitSync>
        what;

    friend bool operator==(const KeyRequest&, const KeyRequest&) = default;
};

struct KeyAnswer {
    std::optional<std::string> value = {};
    std::int64_t number = 0;
    bool yes = false;

    friend bool operator==(const KeyAnswer&, const KeyAnswer&) = default;
};

/// Of what one master keeps in all.
struct KeyLimits {
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
class Keys {
  public:
    using Waiter = std::uint64_t;
    using Answered = std::vector<std::pair<Waiter, Result<KeyAnswer>>>;

    explicit Keys(std::uint64_t epoch, KeyLimits limits = {}) : epoch_(epoch), limits_(limits) {}

    /// What runs now; null: nothing does. `why`: what ran before does so no more.
    void runs(const World* world, const std::string& why);
    /// All workers of that member ended with 0. Of another generation: nothing.
    void done(const Generation& generation, int rank);

    /// `rank`: the caller's place in what runs; nothing: it has none. Errors are kGone, when these
    /// are not the keys that the caller means; kForbidden, when it is no member; kInvalid, when
    /// there can be no such key, or no sum; kTooLarge, when there is no room.
    void ask(Waiter waiter, std::optional<int> rank, KeyRequest request);
    /// It wants no answer any more.
    void forget(Waiter waiter);
    Answered take_answered() { return std::exchange(answered_, {}); }

    std::size_t names() const { return names_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t waits() const { return waits_; }

  private:
    /// Keys, and who waits for those that are missing.
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

    Result<Space*> space_of(const KeySpace& asked, std::optional<int> rank);
    Result<void> check_name(const std::string& name) const;
    Result<void> check_room(std::size_t names, std::size_t bytes, std::size_t waits) const;
    Result<void> put(Space& space, const std::string& key, std::string value);
    void look_at(Space& space, const std::string& key);
    bool all_have_come(const Meeting& meeting) const;
    void look_at(Meetings& meetings, Meetings::iterator meeting);
    void look_at_all(Meetings& meetings);
    void drop(Meetings& meetings, Meetings::iterator meeting);
    void answer(Waiter waiter, Result<KeyAnswer> with);
    void end(const std::string& why);

    // One for each kind of request; nothing: it waits, or has its answer.
    using Outcome = Result<std::optional<KeyAnswer>>;
    Outcome enter(Waiter waiter, Meetings& meetings, int rank, std::string name);
    Outcome act(Waiter waiter, Space& space, int rank, SetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, GetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, AddToKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, CompareSetKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, DeleteKey& what);
    Outcome act(Waiter waiter, Space& space, int rank, AwaitKeys& what);
    Outcome act(Waiter waiter, Space& space, int rank, EnterBarrier& what);
    Outcome act(Waiter waiter, Space& space, int rank, JoinSync& what);
    Outcome act(Waiter waiter, Space& space, int rank, AwaitSync& what);

    std::uint64_t epoch_;
    KeyLimits limits_;
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
