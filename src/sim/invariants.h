#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "sim/ledger/ledger.h"
#include "store/store.h"

namespace muster::sim {

/// What Invariants asks of the world.
struct InvariantHooks {
    /// Please call deadline_passed(uid) a second after `when`.
    std::function<void(std::string uid, WallTime when)> on_deadline;
    /// What has stood in the API since before that has been seen by an operator that is up.
    std::function<Instant()> seen_before;
    /// What one operator asked for another may not know: the second of two, or the one after a
    /// crash. It takes a pod that goes for one that another client stopped, and counts it.
    bool forgetful = false;
    /// Terms of operators so far: one that leads again has forgotten as much as one that was
    /// started again. Empty: there is but one.
    std::function<std::uint64_t()> terms = {};
    /// At once. Nothing tells one of two that what it sees of a pod is older than what the other
    /// has already counted into the job, so each may count a restart.
    int operators = 1;
    /// One of them leads: who it is, by its name as a writer, the Lease says in front of a '#'.
    bool election = false;
    /// How long what an operator asks for may be under way until it has its effect.
    Duration longest_request{};
    /// Since when nothing is between operators and the API, and none has crashed; Instant::max():
    /// something is or may be. Empty: always.
    std::function<Instant()> calm_since = {};
    /// When something happened last to the agents and masters of the job with this uid. Empty: there
    /// are no agents.
    std::function<Instant(const std::string& uid)> happened_in = {};
};

/// Watches every committed change, and tells the ledger which broke a rule. Knows what really
/// happened from what was committed and by whom. The cost of a change is that of its job, not of
/// the world. Thread: one loop.
class Invariants {
  public:
    /// Both outlive this.
    Invariants(const Clock& clock, Ledger& ledger, InvariantHooks hooks);
    ~Invariants();

    /// `who` wrote it: "operator..." are operators, any other name is another client.
    void change(std::string_view who, const store::StoreChange& change);
    /// The calendar was set, just now. What was asked for before goes by what it showed then.
    void calendar_set(Duration by);
    /// An operator was up and the API answered all through the time before.
    void deadline_passed(const std::string& uid);
    /// Everything had its time: jobs must have ended, dependents must have gone.
    void at_end();

  private:
    struct Job;
    struct State;

    std::unique_ptr<State> state_;
};

}  // namespace muster::sim
