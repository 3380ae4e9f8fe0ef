#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure_policy/budgets.h"
#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"

namespace muster::failure_policy {

/// What to do.
enum class Action : std::uint8_t {
    kRestart,  ///< restart all workers, on the same nodes
    kReplace,  ///< drop the node; another one takes its place if there is one
    kLeave,    ///< the node leaves the world, which continues if enough others are left
    kFail,     ///< end the job
};

/// What a decision takes into account besides the evidence.
struct Situation {
    bool stepped = false;   ///< the program has made progress in this generation
    bool repeated = false;  ///< the previous incident had the same error, with no progress since
    int alike = 0;          ///< failures of the program in a row, with this one, that are alike
};

/// One row of the table. The first row that matches decides.
struct Rule {
    std::string_view name;
    std::string_view when;  ///< for people
    bool (*matches)(const job_protocol::FailureReport&, const Situation&,
                    const job_protocol::PolicyOptions&);
    Action action;
    job_protocol::Charge charge;
    std::string_view why;  ///< the reason given if the job ends by this rule
};

/// All rules for what follows a failure; the table in the documentation is generated from them.
std::span<const Rule> failure_rules();

struct Decision {
    Action action = Action::kRestart;
    const Rule* rule = nullptr;  ///< never null
    std::string text;            ///< for people: what happened and what is done
    std::optional<job_protocol::Incident> charged =
        {};  ///< by this decision; nullopt if it was charged before, or costs nothing
};

/// Decides what follows a failure, within budgets. The first evidence of an attempt is an incident;
/// later evidence of the same attempt belongs to victims and changes nothing. Pure.
class FailurePolicy {
  public:
    FailurePolicy(job_protocol::PolicyOptions options, Budgets budgets)
        : options_(std::move(options)), budgets_(std::move(budgets)) {}

    /// The program reports its progress (through the hook, or muster.step()). Without this the
    /// absence of progress can't be known, and no error counts as repeated.
    void progress_is_seen() { progress_is_seen_ = true; }
    /// A step was made in this attempt that no earlier attempt had made.
    void stepped(job_protocol::Generation generation, int restarts = 0) {
        stepped_ = {generation, restarts};
    }
    /// Restores an incident that an earlier master charged. That master may not have acted on it:
    /// it is decided again, but not charged. Call in order of time, before anything else.
    void remember(const job_protocol::Incident& incident);
    /// nullopt if the evidence belongs to an incident already decided, or to an earlier generation.
    std::optional<Decision> decide(const job_protocol::FailureReport& evidence,
                                   job_protocol::Generation current, WallTime now);

    /// Others from now on; what happened and what was charged stays.
    void follow(job_protocol::PolicyOptions options,
                std::array<job_protocol::Budget, job_protocol::kCharges> limits) {
        options_ = std::move(options);
        budgets_.limit_to(limits);
    }

    const Budgets& budgets() const { return budgets_; }
    /// The incident decided last.
    const std::optional<job_protocol::FailureReport>& last() const { return last_; }

  private:
    /// Counts this failure among those that are alike.
    Situation situation_at(const job_protocol::FailureReport& evidence, bool charged_before,
                           WallTime now);

    job_protocol::PolicyOptions options_;
    Budgets budgets_;
    bool progress_is_seen_ = false;
    std::optional<std::pair<job_protocol::Generation, int>> stepped_;
    std::optional<job_protocol::FailureReport> last_;
    WallTime last_at_ = {};
    int alike_ = 0;  ///< that end with the last one; another master counts from its own first
    std::optional<job_protocol::Incident> remembered_;  ///< the newest
};

}  // namespace muster::failure_policy
